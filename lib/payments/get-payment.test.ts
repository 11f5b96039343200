import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import * as contract from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const get = (as: Credential, id: string) => send(contract.getPayment, getPayment, { as, id });

describe("getPayment", () => {
  test("200 repeats the answer of authorizePayment, allowed or denied, for a client that lost it", async () => {
    const buyer = await createBuyer();
    const mandateId = await activeMandate(buyer.person.credential);
    for (const [amount, outcome] of [
      ["0.5", "allow"],
      ["0.6", "deny"],
    ] as const) {
      const answer = await authorize(buyer, mandateId, amount);
      const { status, data } = await get(buyer.person.credential, answer.authorizationId);
      expect([status, data.authorization]).toEqual([200, answer]);
      expect(data.authorization.policyDecision.outcome).toBe(outcome);
      expect(data.intent).toMatchObject({ amount, asset: "USDC", seller: { sellerId: buyer.resource.sellerId } });
      expect(data.executions).toEqual([]);
      expect(data).not.toHaveProperty("approval");
    }
  });

  test("200 lists every execution, newest first", async () => {
    const { buyer, executionId, authorizationId, mandateId } = await unknownExecution({
      settlementStatus: "failed",
      failureCode: "settlement_failed",
    });
    const second = newId("execution");
    await database()
      .insert(executions)
      .values({
        executionId: second,
        authorizationId,
        organizationId: buyer.organizationId,
        environment: "sandbox",
        mandateId,
        subjectId: buyer.agent.serviceAccountId,
        settlementMode: "facilitatorSettled",
        settlementStatus: "pending",
        nextCheckAt: new Date(),
        createdAt: new Date(Date.now() + 1_000),
      });
    const { data } = await get(buyer.person.credential, authorizationId);
    expect(data.executions.map((one) => [one.executionId, one.settlementStatus])).toEqual([
      [second, "pending"],
      [executionId, "failed"],
    ]);
  });

  test("404 for a payment of another organization, as for an unknown one", async () => {
    const buyer = await createBuyer();
    const { authorizationId } = await authorize(buyer, await activeMandate(buyer.person.credential));
    const [foreign, unknown] = [await get(buyer.foreign, authorizationId), await get(buyer.foreign, "aut_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });
});
