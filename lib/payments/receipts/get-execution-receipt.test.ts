import { describe, expect, test } from "vitest";
import { publicKeys } from "#lib/audit/signing-key.ts";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import * as contract from "#lib/payments/receipts/contract.ts";
import { getExecutionReceipt } from "#lib/payments/receipts/get-execution-receipt.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";
import { send, type Credential } from "#test/tenant.ts";
import * as example from "../../../sdk/src/verify-receipt.ts";

useDatabase();

const get = (as: Credential, id: string) => send(contract.getExecutionReceipt, getExecutionReceipt, { as, id });

const TRANSACTION = `0x${"5c".repeat(32)}`;

type Scene = Awaited<ReturnType<typeof unknownExecution>>;

/** Records the audit event of the given type about the execution. */
async function record({ buyer, executionId, authorizationId, mandateId }: Scene, type: string): Promise<void> {
  const { organizationId } = buyer;
  const metadata = { authorizationId, mandateId, ...(type === "payment.settled" && { settlementReference: TRANSACTION }) };
  await transact(async (tx) =>
    audit(
      tx,
      { type, actorId: "service", organizationId, entityType: "execution", entityId: executionId, metadata },
      await clock(tx),
    ),
  );
}

describe("getExecutionReceipt", () => {
  test("200 with a receipt that verifies, for a settled and for an unknown execution", async () => {
    for (const [settlementStatus, type] of [
      ["settled", "payment.settled"],
      ["unknown", "payment.unknown"],
    ] as const) {
      const scene = await unknownExecution({
        settlementStatus,
        ...(type === "payment.settled" && { settlementReference: TRANSACTION }),
      });
      await record(scene, type);
      const { status, data } = await get(scene.buyer.person.credential, scene.executionId);
      expect(status).toBe(200);
      expect(await example.verifyReceipt(data, publicKeys())).toMatchObject({ ok: true, step: "head" });
      expect(await verifyReceipt(data, publicKeys())).toMatchObject({
        ok: true,
        withProof: true,
        claims: { kind: "execution", jti: scene.executionId, settlement: { status: settlementStatus } },
      });
    }
  });

  test("200 with a receipt that verifies, after events that do not change its state", async () => {
    for (const [settlementStatus, type, later] of [
      ["settled", "payment.settled", "reservation.overrun"],
      ["unknown", "payment.unknown", "payment.recheckRequested"],
    ] as const) {
      const settlementReference = type === "payment.settled" ? TRANSACTION : null;
      const scene = await unknownExecution({ settlementStatus, settlementReference });
      await record(scene, type);
      await record({ ...scene, authorizationId: "none" }, later);
      const { status, data } = await get(scene.buyer.person.credential, scene.executionId);
      expect(status).toBe(200);
      expect(await verifyReceipt(data, publicKeys())).toMatchObject({ ok: true, withProof: true });
    }
  });

  test.each([
    ["settled", "payment.submitted"],
    ["failed", "payment.unknown"],
    ["unknown", "payment.submitted"],
    ["unknown", "payment.failed"],
    ["processing", "payment.unknown"],
    ["pending", "payment.processing"],
  ] as const)("503 while the execution is %s and its newest event is %s", async (settlementStatus, type) => {
    const scene = await unknownExecution({ settlementStatus });
    await record(scene, type);
    expect((await get(scene.buyer.person.credential, scene.executionId)).problem.code).toBe("service_unavailable");
  });

  test("404 for an execution of another organization, as for an unknown one", async () => {
    const { buyer, executionId } = await unknownExecution();
    const [foreign, unknown] = [await get(buyer.foreign, executionId), await get(buyer.foreign, "exe_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });
});
