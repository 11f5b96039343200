import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import * as contract from "#lib/payments/contract.ts";
import { getExecution } from "#lib/payments/executions/get-execution.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";
import { createAgent, send, type Credential } from "#test/tenant.ts";

useDatabase();

const get = (as: Credential, id: string) => send(contract.getExecution, getExecution, { as, id });

describe("getExecution", () => {
  test("200 shows an unknown outcome as unknown and never as failed", async () => {
    const { buyer, executionId, authorizationId } = await unknownExecution();
    const { status, data } = await get(buyer.person.credential, executionId);
    expect([status, data]).toMatchObject([
      200,
      {
        executionId,
        authorizationId,
        settlementStatus: "unknown",
        failureCode: "settlement_unknown",
        failureCategory: "settlement_unknown",
        failureActor: "provider",
        failureDetail: "No answer came.",
      },
    ]);
    expect(data).not.toHaveProperty("settlementReference");
  });

  test("200 shows the transaction of a settled execution, and no failure of an earlier check", async () => {
    const settlementReference = `0x${"5c".repeat(32)}`;
    const { buyer, executionId } = await unknownExecution({ settlementStatus: "settled", settlementReference });
    const { data } = await get(buyer.person.credential, executionId);
    expect(data).toMatchObject({ settlementStatus: "settled", settlementReference });
    for (const field of ["failureCode", "failureDetail"]) expect(data).not.toHaveProperty(field);
  });

  test("shows the signed credential to the subject that executed, and to no other key or person", async () => {
    const credentialHeaders = { "PAYMENT-SIGNATURE": "secret" };
    const { buyer, executionId } = await unknownExecution({ credentialHeaders });
    const [payer, colleague] = [
      await createAgent(buyer.organizationId, ["payments:read"]),
      await createAgent(buyer.organizationId, ["payments:read"]),
    ];
    const { serviceAccountId: subjectId } = payer;
    await database().update(executions).set({ subjectId }).where(eq(executions.executionId, executionId));
    expect((await get(payer.credential, executionId)).data).toMatchObject({ credentialHeaders });
    for (const as of [colleague.credential, buyer.person.credential])
      expect(JSON.stringify((await get(as, executionId)).data)).not.toContain("secret");
  });

  test("404 for an execution of another organization, as for an unknown one", async () => {
    const { buyer, executionId } = await unknownExecution();
    const [foreign, unknown] = [await get(buyer.foreign, executionId), await get(buyer.foreign, "exe_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });
});
