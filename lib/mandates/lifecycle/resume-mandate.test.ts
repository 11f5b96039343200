import { describe, expect, test } from "vitest";
import { resumeMandate as operation } from "#lib/mandates/contract.ts";
import { resumeMandate as handler } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { useDatabase } from "#test/database.ts";
import { resume, revoke, suspend, testStep, typesOf, useBuyer } from "#test/mandate-steps.ts";
import { activeMandate, draftMandate } from "#test/mandates.ts";

useDatabase();

const { buyer, as } = useBuyer();

const suspended = async () => {
  const id = await activeMandate(as);
  await suspend(as, id);
  return id;
};

describe("resumeMandate", () => {
  test("200 for an active mandate, without an event", async () => {
    const id = await activeMandate(as);
    expect(await resume(as, id)).toMatchObject({ status: 200, data: { status: "active" } });
    expect(await typesOf(id)).toEqual(["mandate.created", "mandate.activated"]);
  });

  test("409 for a draft and for a revoked mandate", async () => {
    const { mandateId } = await draftMandate(as);
    expect((await resume(as, mandateId)).status).toBe(409);
    await revoke(as, mandateId);
    expect((await resume(as, mandateId)).status).toBe(409);
  });

  testStep({ operation, handler, buyer: () => buyer, ready: suspended, forKeys: false });
});
