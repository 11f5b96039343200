import { beforeAll, describe, expect, test } from "vitest";
import * as contract from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";
import { useDatabase } from "#test/database.ts";
import { authorize, createBuyer, draftMandate, activeMandate, type Buyer } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});

describe("getMandate", () => {
  const operation = contract.getMandate;

  test("200 shows what is spent, reserved and available", async () => {
    const id = await activeMandate(buyer.person.credential);
    await authorize(buyer, id);
    const { status, data } = await send(operation, getMandate, { as: buyer.agent.credential, id });
    expect(status).toBe(200);
    expect(data).toMatchObject({ mandateId: id, status: "active", version: 1 });
    expect(data.usage).toMatchObject([{ window: "day UTC", limit: "5", spent: "0", reserved: "0.5", available: "4.5" }]);
  });

  test("200 shows an active mandate after its end as expired, and a used up one as exhausted", async () => {
    const assets = [{ asset: "USDC", chain: "eip155:84532" }];
    const over = { assets, limits: { perPayment: "1", total: "1" }, validUntil: "2026-01-01T00:00:00Z" };
    const expired = await activeMandate(buyer.person.credential, { policy: over });
    const usedUp = await activeMandate(buyer.person.credential, {
      policy: { assets, limits: { perPayment: "0.5", total: "0.5" } },
    });
    await authorize(buyer, usedUp);
    const statusOf = async (id: string) => (await send(operation, getMandate, { as: buyer.person.credential, id })).data.status;
    expect([await statusOf(expired), await statusOf(usedUp)]).toEqual(["expired", "exhausted"]);
  });

  test("404 for a mandate of another organization, as for an unknown one", async () => {
    const { mandateId } = await draftMandate(buyer.person.credential);
    const foreign = await send(operation, getMandate, { as: buyer.foreign, id: mandateId });
    const unknown = await send(operation, getMandate, { as: buyer.foreign, id: "mdt_unknown" });
    expect([foreign.status, foreign.problem.detail]).toEqual([404, unknown.problem.detail]);
  });

  test("403 without mandates:read", async () => {
    const { credential } = await createAgent(buyer.organizationId, ["payments:authorize"]);
    const { mandateId } = await draftMandate(buyer.person.credential);
    expect((await send(operation, getMandate, { as: credential, id: mandateId })).status).toBe(403);
  });
});

describe("listMandates", () => {
  const operation = contract.listMandates;

  test("200 pages newest first, without gaps and without the mandates of others", async () => {
    const own = await createBuyer();
    const as = own.person.credential;
    const made: string[] = [];
    for (let index = 0; index < 5; index++) made.push((await draftMandate(as)).mandateId);
    await draftMandate(own.foreign);
    const seen: string[] = [];
    let cursor = "";
    do {
      const query = `?limit=2${cursor && `&cursor=${cursor}`}`;
      const { data } = await send(operation, listMandates, { as, query });
      seen.push(...data.items.map(({ mandateId }) => mandateId));
      expect(data.hasMore).toBe(data.nextCursor !== undefined);
      cursor = data.nextCursor ?? "";
    } while (cursor);
    expect(seen).toEqual(made.toReversed());
  });

  test("200 shows each mandate as getMandate does", async () => {
    const own = await createBuyer();
    const as = own.person.credential;
    await authorize(own, await activeMandate(as));
    await authorize(own, await activeMandate(as), "0.5");
    const { data } = await send(operation, listMandates, { as });
    for (const mandate of data.items) {
      expect(mandate).toEqual((await send(contract.getMandate, getMandate, { as, id: mandate.mandateId })).data);
    }
  });

  test.each(["?cursor=nonsense", "?limit=0", "?limit=101", "?offset=1"])("400 refuses %s", async (query) => {
    expect((await send(operation, listMandates, { as: buyer.person.credential, query })).status).toBe(400);
  });
});
