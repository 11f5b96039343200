import { describe, expect, test } from "vitest";
import { activateMandate as operation } from "#lib/mandates/contract.ts";
import { activateMandate as handler } from "#lib/mandates/lifecycle/activate-mandate.ts";
import { useDatabase } from "#test/database.ts";
import { activate, revoke, suspend, testStep, typesOf, useBuyer } from "#test/mandate-steps.ts";
import { activeMandate, authorize, draftMandate } from "#test/mandates.ts";

useDatabase();

const { buyer, as } = useBuyer();

describe("activateMandate", () => {
  test("200 makes a draft usable", async () => {
    const { mandateId } = await draftMandate(as);
    expect((await authorize(buyer, mandateId)).policyDecision).toMatchObject({
      outcome: "deny",
      denialCode: "mandate_not_active",
    });
    expect(await activate(as, mandateId)).toMatchObject({ status: 200, data: { status: "active", version: 1 } });
    expect((await authorize(buyer, mandateId)).policyDecision.outcome).toBe("allow");
  });

  test("200 again without a second event", async () => {
    const id = await activeMandate(as);
    expect((await activate(as, id)).status).toBe(200);
    expect(await typesOf(id)).toEqual(["mandate.created", "mandate.activated"]);
  });

  test("409 for a suspended or a revoked mandate", async () => {
    const id = await activeMandate(as);
    await suspend(as, id);
    expect(await activate(as, id)).toMatchObject({ status: 409, problem: { code: "conflict" } });
    await revoke(as, id);
    expect(await activate(as, id)).toMatchObject({ status: 409, problem: { code: "conflict" } });
  });

  testStep({ operation, handler, buyer: () => buyer, ready: async () => (await draftMandate(as)).mandateId, forKeys: false });
});
