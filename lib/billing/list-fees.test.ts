import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import * as contract from "#lib/billing/contract.ts";
import { listFees } from "#lib/billing/list-fees.ts";
import { accrueFees } from "#lib/billing/store.ts";
import { atomicOf } from "#lib/money.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization, send, type Credential } from "#test/tenant.ts";

useDatabase();

let buyer: string;
let seller: string;
beforeAll(async () => {
  buyer = await createOrganization();
  seller = await createOrganization();
  for (const authorizationId of ["aut_1", "aut_2", "aut_3"]) {
    await wait(2); // Ids that are made in the same millisecond are not ordered.
    await transact((tx) =>
      accrueFees(tx, {
        authorizationId,
        organizationId: buyer,
        sellerOrganizationId: seller,
        amount: atomicOf(250_000n),
        buyerShare: atomicOf(2_500n),
        sellerShare: atomicOf(1n),
        asset: "USDC",
        chain: "eip155:84532",
      }),
    );
  }
});

const reader = async (organizationId: string) => (await createAgent(organizationId, ["billing:read"])).credential;
const list = (as: Credential, query = "") => send(contract.listFees, listFees, { as, query });

describe("listFees", () => {
  it("200 shows buyer and seller only their own fees, newest first", async () => {
    const { status, data } = await list(await reader(seller));
    expect(status).toBe(200);
    expect(data.hasMore).toBe(false);
    expect(data.items.map(({ authorizationId }) => authorizationId)).toEqual(["aut_3", "aut_2", "aut_1"]);
    const [first] = data.items;
    const { feeId, createdAt, ...fee } = first!;
    expect(fee).toEqual({ authorizationId: "aut_3", side: "seller", amount: "0.000001", asset: "USDC", kind: "accrual" });
    expect([typeof feeId, Number.isNaN(Date.parse(createdAt))]).toEqual(["string", false]);
  });

  it("continues after the cursor", async () => {
    const as = await reader(buyer);
    const first = await list(as, "?limit=2");
    const second = await list(as, `?limit=2&cursor=${first.data.nextCursor}`);
    expect([...first.data.items, ...second.data.items].map(({ authorizationId }) => authorizationId)).toEqual([
      "aut_3",
      "aut_2",
      "aut_1",
    ]);
    expect([first.data.hasMore, second.data.hasMore]).toEqual([true, false]);
  });

  it("200 shows nothing to an organization that owes nothing", async () => {
    expect((await list(await reader(await createOrganization()))).data).toEqual({ items: [], hasMore: false });
  });

  it("403 without billing:read", async () => {
    const agent = await createAgent(buyer, ["billing:quote"]);
    expect((await list(agent.credential)).status).toBe(403);
  });
});
