import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import {
  selectReceivedExecutions,
  selectReceivedSettlements,
  sumExecutions,
  sumSettlements,
  type Scope,
} from "#lib/pages/received-store.ts";
import { revenueDays, revenueSince } from "#lib/pages/revenue.ts";
import { viewReceived } from "#lib/pages/view-received.ts";
import { viewRevenue } from "#lib/pages/view-revenue.ts";
import { useDatabase } from "#test/database.ts";
import { planOf } from "#test/plan.ts";

useDatabase();

const USDC = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const CHAIN = "eip155:84532";
const DAY_MS = 86_400_000;
const scopeOf = (organizationId: string): Scope => ({ organizationId, environment: "sandbox" });

/** An id of this kind that was made at this time. */
const idAt = (kind: "execution" | "settlement", at: Date): string => firstIdAt(kind, at).slice(0, -8) + newId(kind).slice(-8);

type Paid = { readonly status?: string; readonly daysAgo?: number; readonly resourceId?: string; readonly amount?: number };

/** An execution by another organization, as executePayment writes it. */
async function execution(
  seller: string,
  { status = "settled", daysAgo = 0, resourceId = "report", amount = 250_000 }: Paid = {},
) {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const id = idAt("execution", at);
  await database().execute(sql`
    INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
      settlement_status, payer, nonce, settlement_reference, seller_organization_id, seller_id, resource_id, amount, asset, chain,
      created_at, resolved_at)
    VALUES (${id}, ${newId("authorization")}, 'org_buyer', 'sandbox', 'mdt_secret', 'sa_secret', 'offchainAuthorized', ${status},
      '0xpayer', '0x1', '0xhash', ${seller}, 'sel_1', ${resourceId}, ${amount}, 'USDC', ${CHAIN}, ${at.toISOString()}, ${at.toISOString()})`);
  return id;
}

/** A payment without a mandate that the seller's own server had settled. */
async function settlement(
  seller: string,
  { status = "settled", daysAgo = 0, resourceId = "report", amount = 250_000 }: Paid = {},
) {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const id = idAt("settlement", at);
  await database().execute(sql`
    INSERT INTO plain_settlements (settlement_id, organization_id, environment, service_account_id, chain, token_address, payer, nonce,
      pay_to, amount, seller_id, resource_id, credential_hash, valid_before, from_block, status, transaction, created_at, resolved_at)
    VALUES (${id}, ${seller}, 'sandbox', 'sa_x', ${CHAIN}, ${USDC}, '0xplain', ${id}, '0xto', ${amount}, 'sel_1', ${resourceId}, 'x',
      clock_timestamp(), 1, ${status}, '0xhash2', ${at.toISOString()}, ${at.toISOString()})`);
  return id;
}

const idsOf = async (organizationId: string, query: Partial<Parameters<typeof viewReceived>[1]> = {}) =>
  (await viewReceived(scopeOf(organizationId), { limit: 20, ...query })).items.map(({ paymentId }) => paymentId);

describe("payments received", () => {
  test("show amount, resource, status, transaction and payer, and nothing else of the buyer", async () => {
    await execution("org_a");
    const { items } = await viewReceived(scopeOf("org_a"), { limit: 20 });
    expect(items).toEqual([
      {
        paymentId: expect.stringMatching(/^exe_/),
        createdAt: expect.any(String),
        sellerId: "sel_1",
        resourceId: "report",
        amount: "0.25",
        asset: "USDC",
        chain: CHAIN,
        status: "settled",
        transaction: "0xhash",
        payer: "0xpayer",
        nonce: "0x1",
        handedOver: false,
      },
    ]);
    expect(JSON.stringify(items)).not.toMatch(/secret|org_buyer/);
  });

  test("leave out those of another seller, of another environment and the organization's own payments", async () => {
    const mine = await execution("org_b");
    await execution("org_c");
    await settlement("org_c");
    await database().execute(
      sql`UPDATE executions SET environment = 'production' WHERE execution_id = ${await execution("org_b")}`,
    );
    expect(await idsOf("org_b")).toEqual([mine]);
    expect(await idsOf("org_buyer")).toEqual([]);
  });

  test("are newest first, with and without a mandate, and continue by cursor through both", async () => {
    const made: string[] = [];
    for (const daysAgo of [5, 4, 3, 2, 1]) {
      made.push(await (daysAgo % 2 === 0 ? execution : settlement)("org_d", { daysAgo }));
    }
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { items, nextCursor } = await viewReceived(scopeOf("org_d"), { limit: 2, cursor });
      seen.push(...items.map(({ paymentId }) => paymentId));
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    expect(seen).toEqual(made.toReversed());
  });

  test("are filtered by resource, status and time", async () => {
    const old = await execution("org_e", { daysAgo: 10 });
    const failed = await settlement("org_e", { status: "failed", daysAgo: 3 });
    const other = await settlement("org_e", { resourceId: "other" });
    expect(await idsOf("org_e", { status: "failed" })).toEqual([failed]);
    expect(await idsOf("org_e", { sellerId: "sel_1", resourceId: "other" })).toEqual([other]);
    expect(await idsOf("org_e", { until: new Date(Date.now() - 5 * DAY_MS) })).toEqual([old]);
    expect(await idsOf("org_e", { from: new Date(Date.now() - 5 * DAY_MS) })).toEqual([other, failed]);
  });
});

describe("revenue", () => {
  const now = new Date("2026-11-21T12:00:00.000Z");

  test("has the 30 days until today, also days without a payment", () => {
    const row = { sellerId: null, resourceId: null, amount: 5n, payments: 1 };
    const days = revenueDays(
      [
        { ...row, day: "2026-11-21" },
        { ...row, day: "2026-10-01" },
      ],
      now,
      30,
    );
    expect(days).toHaveLength(30);
    expect(days[0]).toEqual({ day: "2026-10-23", amount: 0n, payments: 0 });
    expect(days.at(-1)).toEqual({ day: "2026-11-21", amount: 5n, payments: 1 });
  });

  test("reads all days of the month, and the 30 days", () => {
    expect(revenueSince(now, 30).toISOString()).toBe("2026-10-23T00:00:00.000Z");
    expect(revenueSince(new Date("2026-12-31T23:59:00.000Z"), 30).toISOString()).toBe("2026-12-01T00:00:00.000Z");
  });

  test("counts settled payments of both kinds, exactly", async () => {
    await execution("org_f", { amount: 1 });
    await settlement("org_f", { amount: 2, resourceId: "other" });
    await execution("org_f", { status: "failed" });
    await execution("org_f", { status: "pending" });
    await execution("org_f", { daysAgo: 40 });
    const [revenue, ...more] = await viewRevenue(scopeOf("org_f"));
    expect(more).toEqual([]);
    expect(revenue?.days.at(-1)).toMatchObject({ amount: "0.000003", payments: 2 });
    expect(revenue?.month).toEqual({ amount: "0.000003", payments: 2 });
    expect(revenue?.resources).toEqual({
      "sel_1 report": { amount: "0.000001", payments: 1 },
      "sel_1 other": { amount: "0.000002", payments: 1 },
    });
  });

  test("is empty before the first payment", async () => expect(await viewRevenue(scopeOf("org_none"))).toEqual([]));
});

describe("among the payments of 100 sellers", () => {
  const scope = scopeOf("org_7");
  const page = { place: null, limit: 21 };

  beforeAll(async () => {
    await database().execute(sql`
      INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
        settlement_status, seller_organization_id, amount, asset, chain, resolved_at)
      SELECT 'exe_01z' || lpad(n::text, 23, '0'), 'aut_' || n, 'org_buyer', 'sandbox', 'mdt_x', 'sa_x', 'offchainAuthorized', 'settled',
        'org_' || n % 100, 1, 'USDC', ${CHAIN}, clock_timestamp() - n * interval '3 minutes' FROM generate_series(1, 40000) n`);
    await database().execute(sql`
      INSERT INTO plain_settlements (settlement_id, organization_id, environment, service_account_id, chain, token_address, payer, nonce,
        pay_to, amount, credential_hash, valid_before, from_block, status, resolved_at)
      SELECT 'stl_01z' || lpad(n::text, 23, '0'), 'org_' || n % 100, 'sandbox', 'sa_x', ${CHAIN}, ${USDC}, 'p' || n, 'n' || n, '0xto', 1,
        'x', clock_timestamp(), 1, 'settled', clock_timestamp() - n * interval '3 minutes' FROM generate_series(1, 40000) n`);
  });

  test.each([
    ["executions_received", "executions", () => selectReceivedExecutions(database(), scope, {}, page)],
    ["plain_settlements_of_organization", "plain_settlements", () => selectReceivedSettlements(database(), scope, {}, page)],
    ["executions_revenue", "executions", () => sumExecutions(database(), scope, new Date(Date.now() - 30 * DAY_MS))],
    [
      "plain_settlements_revenue",
      "plain_settlements",
      () => sumSettlements(database(), scope, new Date(Date.now() - 30 * DAY_MS)),
    ],
  ])("a page is read by %s", async (index, table, query) => {
    const { whole, indexes } = await planOf(query(), [table]);
    expect(whole).toEqual([]);
    expect(indexes).toContain(index);
  });
});
