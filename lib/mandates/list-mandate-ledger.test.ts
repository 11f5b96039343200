import { beforeAll, describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { listMandateLedger as operation } from "#lib/mandates/contract.ts";
import { listMandateLedger } from "#lib/mandates/list-mandate-ledger.ts";
import { holdOf, releaseHold } from "#lib/holds/hold-store.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});

describe("listMandateLedger", () => {
  test("200 lists holds and how they ended, newest first", async () => {
    const as = buyer.person.credential;
    const id = await activeMandate(as);
    const [one, two] = [await authorize(buyer, id), await authorize(buyer, id)];
    await transact(async (tx) => releaseHold(tx, (await holdOf(tx, one.authorizationId))!, "released"));
    const { status, data } = await send(operation, listMandateLedger, { as, id, query: "?limit=2" });
    expect(status).toBe(200);
    expect(data.items).toMatchObject([
      { kind: "release", authorizationId: one.authorizationId, reservationId: one.policyDecision.reservationId },
      { kind: "hold", authorizationId: two.authorizationId, amount: "0.5", asset: "USDC", mandateId: id },
    ]);
    const rest = await send(operation, listMandateLedger, { as, id, query: `?limit=2&cursor=${data.nextCursor}` });
    expect(rest.data).toMatchObject({ items: [{ kind: "hold", authorizationId: one.authorizationId }], hasMore: false });
  });

  test("404 for the ledger of another organization, 403 without mandates:read", async () => {
    const id = await activeMandate(buyer.person.credential);
    expect((await send(operation, listMandateLedger, { as: buyer.foreign, id })).status).toBe(404);
    const { credential } = await createAgent(buyer.organizationId, ["payments:authorize"]);
    expect((await send(operation, listMandateLedger, { as: credential, id })).status).toBe(403);
  });
});
