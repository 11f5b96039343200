import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { selectSellerFees, sumSellerFees } from "#lib/pages/seller/seller-fees-store.ts";
import { viewDueSellerFees, viewSellerFees } from "#lib/pages/seller/view-seller-fees.ts";
import { database } from "#lib/db/client.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import { useDatabase } from "#test/database.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

const CHAIN = "eip155:84532";

async function fee(organizationId: string, side: string, amount: number): Promise<string> {
  const authorizationId = newId("authorization");
  await database().execute(sql`
    INSERT INTO fees (fee_id, organization_id, authorization_id, side, amount, asset, chain, kind)
    VALUES (${newId("fee")}, ${organizationId}, ${authorizationId}, ${side}, ${amount}, 'USDC', ${CHAIN}, 'accrual')`);
  return authorizationId;
}

describe("the fees of a seller", () => {
  test("are only those that the organization owes as a seller, with the payments that it received", async () => {
    const authorizationId = await fee("org_a", "seller", 2_500);
    await fee("org_a", "buyer", 9_000);
    await fee("org_b", "seller", 9_000);
    await database().execute(sql`
      INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
        settlement_status, seller_organization_id, resource_id, amount, asset, chain)
      VALUES (${newId("execution")}, ${authorizationId}, 'org_buyer', 'sandbox', 'm', 's', 'offchainAuthorized', 'settled', 'org_a',
        'report', 250000, 'USDC', ${CHAIN})`);
    const { items } = await viewSellerFees("org_a", { limit: 20 });
    expect(items).toMatchObject([{ amount: "0.0025", asset: "USDC", resourceId: "report", paid: "0.25" }]);
    expect(await viewDueSellerFees("org_a")).toEqual([{ asset: "USDC", chain: CHAIN, amount: "0.0025", fees: 1 }]);
  });

  test("are due since a time of the database, also if the clock of the process that made their ids differs", async () => {
    const since = new Date("2026-11-01T00:00:00Z");
    const minute = 60_000;
    const at = async (idTime: number, created: number) =>
      database().execute(sql`
        INSERT INTO fees (fee_id, organization_id, authorization_id, side, amount, asset, chain, kind, created_at)
        VALUES (${`${firstIdAt("fee", new Date(since.getTime() + idTime))}${idTime > 0 ? "a" : "b"}`}, 'org_c', ${newId("authorization")},
          'seller', ${created > 0 ? 1 : 10}, 'USDC', ${CHAIN}, 'accrual', ${new Date(since.getTime() + created).toISOString()})`);
    await at(-minute, minute);
    await at(minute, -minute);
    const sums = await sumSellerFees(database(), "org_c", since);
    expect(sums).toMatchObject([{ amount: "1", fees: 1 }]);
  });

  test("are read by index among 40,000 of 100 organizations", async () => {
    await database().execute(sql`
      INSERT INTO fees (fee_id, organization_id, authorization_id, side, amount, asset, chain, kind)
      SELECT 'fee_01z' || lpad(n::text, 23, '0'), 'org_' || n % 100, 'aut_' || n, 'seller', 1, 'USDC', ${CHAIN}, 'accrual'
      FROM generate_series(1, 40000) n`);
    const list = await planOf(selectSellerFees(database(), "org_7", null, 21), ["fees"]);
    expect(list.whole).not.toContain("fees");
    expect(await planOf(sumSellerFees(database(), "org_7", new Date()), ["fees"])).toMatchObject({ whole: [] });
  });
});
