import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { selectHold } from "#lib/holds/hold-store.ts";
import { selectHoldsOf } from "#lib/pages/payment-page-store.ts";
import { sumHeld } from "#lib/platform/emergency-store.ts";
import { selectOverdueHolds } from "#lib/platform/health-store.ts";
import { useDatabase } from "#test/database.ts";
import { seedPayments } from "#test/many-payments.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

test("holds are found by their keys, however many holds there are", async () => {
  await seedPayments("org_7", 20_000);
  await database().execute(sql`
    INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, buckets, expires_at)
    SELECT authorization_id, organization_id, mandate_id, 'captured', 1, '[]', created_at
    FROM authorizations`);
  const tables = ["changed_reservations", "authorizations"];
  // Later than every seeded payment, so that the time alone excludes them all.
  const since = new Date();
  expect(await planOf(selectHold(database(), "aut_7"), tables)).toMatchObject({ whole: [] });
  expect(await planOf(selectHoldsOf(database(), ["aut_7", "aut_8"]), [])).toMatchObject({ whole: [] });
  expect(await planOf(selectOverdueHolds(since), [])).toMatchObject({ whole: [] });
  for (const kind of ["mandate", "agent", "seller"] as const) {
    expect(await planOf(sumHeld(database(), { kind, id: "7" }, since), []), kind).toMatchObject({ whole: [] });
  }
});
