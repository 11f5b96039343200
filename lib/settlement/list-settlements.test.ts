import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { sumExecutions, sumSettlements } from "#lib/pages/seller/revenue-store.ts";
import * as contract from "#lib/settlement/contract.ts";
import { listSettlements, readReceived } from "#lib/settlement/list-settlements.ts";
import { selectReceivedExecutions, selectReceivedSettlements } from "#lib/settlement/received-store.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { planOf } from "#test/plan.ts";
import { DAY_MS, execution, scopeOf, settlement, USDC } from "#test/received.ts";
import { createAgent, createOrganization, send } from "#test/tenant.ts";

useDatabase();

const idsOf = async (organizationId: string, query: Partial<Parameters<typeof readReceived>[1]> = {}) =>
  (await readReceived(scopeOf(organizationId), { limit: 20, ...query })).items.map(({ settlementId }) => settlementId);

describe("payments received", () => {
  test("show amount, resource, status, transaction and payer, and no other data of the buyer", async () => {
    await execution("org_a");
    const { items } = await readReceived(scopeOf("org_a"), { limit: 20 });
    expect(items).toEqual([
      {
        settlementId: expect.stringMatching(/^exe_/),
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

  test("exclude payments of another seller, of another environment, and payments that the organization made", async () => {
    const mine = await execution("org_b");
    await execution("org_c");
    await settlement("org_c");
    await database().execute(
      sql`UPDATE executions SET environment = 'production' WHERE execution_id = ${await execution("org_b")}`,
    );
    expect(await idsOf("org_b")).toEqual([mine]);
    expect(await idsOf("org_buyer")).toEqual([]);
  });

  test("are listed newest first, with and without a mandate, and paged by one cursor", async () => {
    const made: string[] = [];
    for (const daysAgo of [5, 4, 3, 2, 1]) {
      made.push(await (daysAgo % 2 === 0 ? execution : settlement)("org_d", { daysAgo }));
    }
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { items, nextCursor } = await readReceived(scopeOf("org_d"), { limit: 2, cursor });
      seen.push(...items.map(({ settlementId }) => settlementId));
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

describe("listSettlements", () => {
  test("finds by the nonce of the signed payment the settlement whose reply was lost, for the organization that is paid", async () => {
    const organizationId = await createOrganization("Shop");
    const { credential } = await createAgent(organizationId, ["payments:settle"]);
    const [nonce, other] = [`0x${"AB".repeat(32)}`, `0x${"cd".repeat(32)}`];
    const paid = await execution(organizationId, { nonce: nonce.toLowerCase() });
    await execution(organizationId, { nonce: other });
    const list = (query: string, as = credential) => send(contract.listSettlements, listSettlements, { as, query });
    const { data } = await list(`?nonce=${nonce}`);
    expect(data.items).toMatchObject([{ settlementId: paid, amount: "0.25", asset: "USDC", status: "settled" }]);
    expect((await list("")).data.items).toHaveLength(2);
    const foreign = await createAgent(await createOrganization("Other"), ["payments:settle"]);
    expect((await list(`?nonce=${nonce}`, foreign.credential)).data.items).toEqual([]);
  });

  test.each([
    ["/query/nonce", "?nonce=0x12"],
    ["/query/status", "?status=lost"],
  ])("400 points at %s", async (pointer, query) => {
    const { credential } = await createAgent(await createOrganization("Shop"), ["payments:settle"]);
    const { status, problem } = await send(contract.listSettlements, listSettlements, { as: credential, query });
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });
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
