import { describe, expect, test } from "vitest";
import { suspendMandate as operation } from "#lib/mandates/contract.ts";
import { suspendMandate as handler } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { useDatabase } from "#test/database.ts";
import { resume, suspend, testStep, useBuyer } from "#test/mandate-steps.ts";
import { activeMandate, authorize, draftMandate, eventsOf } from "#test/mandates.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();

const { buyer, as } = useBuyer();

describe("suspendMandate", () => {
  test("200 denies later payments until a person resumes the mandate", async () => {
    const id = await activeMandate(as);
    const { credential } = await createAgent(buyer.organizationId, ["mandates:revoke"]);
    expect(await suspend(credential, id)).toMatchObject({ status: 200, data: { status: "suspended" } });
    expect((await authorize(buyer, id)).policyDecision.denialCode).toBe("mandate_suspended");
    expect(await resume(as, id)).toMatchObject({ status: 200, data: { status: "active" } });
    expect((await authorize(buyer, id)).policyDecision.outcome).toBe("allow");
    expect(await eventsOf(id)).toMatchObject([
      {},
      {},
      { type: "mandate.suspended", metadata: { reason: "Pause." } },
      { type: "mandate.resumed" },
    ]);
  });

  test("409 for a draft", async () => {
    const { mandateId } = await draftMandate(as);
    expect((await suspend(as, mandateId)).status).toBe(409);
  });

  testStep({ operation, handler, buyer: () => buyer, ready: () => activeMandate(as), forKeys: true });
});
