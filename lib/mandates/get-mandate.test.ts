import { beforeAll, describe, expect, test } from "vitest";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { getMandate as operation } from "#lib/mandates/contract.ts";
import { useDatabase } from "#test/database.ts";
import { revoke } from "#test/mandate-steps.ts";
import { activeMandate, authorize, createBuyer, draftMandate, policy, type Buyer } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});

describe("getMandate", () => {
  test("200 shows what is spent, reserved and available", async () => {
    const id = await activeMandate(buyer.person.credential);
    await authorize(buyer, id);
    const { status, data } = await send(operation, getMandate, { as: buyer.agent.credential, id });
    expect(status).toBe(200);
    expect(data).toMatchObject({ mandateId: id, name: "Test", status: "active", version: 1, policy });
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

  test("200 for a draft and for a revoked mandate, without fields that were never set", async () => {
    const { mandateId: id } = await draftMandate(buyer.person.credential);
    const { data } = await send(operation, getMandate, { as: buyer.person.credential, id });
    expect(data.status).toBe("draft");
    for (const field of ["agents", "wallet", "metadata"]) expect(data).not.toHaveProperty(field);
    await revoke(buyer.person.credential, id);
    expect((await send(operation, getMandate, { as: buyer.person.credential, id })).data.status).toBe("revoked");
  });
});
