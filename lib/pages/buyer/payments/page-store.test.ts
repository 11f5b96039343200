import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import { LOOKED_AT_MAX, paymentsQuery, selectHoldsOf } from "#lib/pages/buyer/payments/page-store.ts";
import { readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { useDatabase } from "#test/database.ts";
import { seedPayments } from "#test/many-payments.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

const scope = { organizationId: "org_most", environment: "sandbox" };

/** The maximum number of rows that any step of the query plan returned, over all its loops. */
async function rowsRead(query: Record<string, string>): Promise<number> {
  const statement = paymentsQuery(scope, readPaymentFilter(query), null, { limit: 26, place: null });
  const { sql: text, params } = new PgDialect().sqlToQuery(statement);
  const plan = await pool().unsafe(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, params as never[]);
  const counts = plan.flatMap((row) => [...String(row["QUERY PLAN"]).matchAll(/actual rows=([\d.]+) loops=(\d+)/g)]);
  return Math.max(...counts.map(([, rows, loops]) => Number(rows) * Number(loops)));
}

describe("the payments of an organization that has nearly all of 31,000 payments", () => {
  beforeAll(async () => {
    await seedPayments("org_most", 30_000);
    await seedPayments("org_few", 1_000);
    await database().execute(sql`ANALYZE authorizations, executions, payment_terms`);
  });

  test.each([
    ["nothing narrows them", 100, {}],
    ["they are those of a mandate", 100, { mandate: "mdt_org_most3" }],
    ["they were denied", 100, { outcome: "deny" }],
    // A query by status checks at most this many of the newest executions.
    ["they are settled", LOOKED_AT_MAX, { settlement: "settled" }],
  ])("are not all read for one page when %s", async (_, most, query) => {
    expect(await rowsRead(query)).toBeLessThanOrEqual(most);
  });

  test("have holds that are found by their keys, however many holds there are", async () => {
    await database().execute(sql`
      INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, buckets, expires_at)
      SELECT authorization_id, organization_id, mandate_id, 'captured', 1, '[]', created_at
      FROM authorizations`);
    const holds = selectHoldsOf(database(), ["aut_7", "aut_8"]);
    expect(await planOf(holds, ["changed_reservations", "authorizations"])).toMatchObject({ whole: [] });
  });
});
