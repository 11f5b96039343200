import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { enterGate } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import { revokeMandate as operation } from "#lib/mandates/contract.ts";
import { revokeMandate as handler } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { useDatabase } from "#test/database.ts";
import { revoke, testStep, typesOf, useBuyer } from "#test/mandate-steps.ts";
import { activeMandate, authorize, eventsOf } from "#test/mandates.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();

const { buyer, as } = useBuyer();

describe("revokeMandate", () => {
  test("200 ends the mandate for ever, also if a key asks for it", async () => {
    const id = await activeMandate(as);
    const { credential } = await createAgent(buyer.organizationId, ["mandates:revoke"]);
    expect(await revoke(credential, id)).toMatchObject({ status: 200, data: { status: "revoked" } });
    expect((await authorize(buyer, id)).policyDecision.denialCode).toBe("mandate_revoked");
    expect((await revoke(as, id)).status).toBe(200);
    expect(await typesOf(id)).toEqual(["mandate.created", "mandate.activated", "mandate.revoked"]);
  });

  test("lists in its event the payments that were submitted and are not final", async () => {
    const id = await activeMandate(as);
    const { authorizationId } = await authorize(buyer, id);
    const submitted = {
      authorizationId,
      organizationId: buyer.organizationId,
      environment: "sandbox",
      mandateId: id,
      subjectId: "sa_x",
    };
    const settlement = { settlementMode: "offchainAuthorized", settlementStatus: "unknown", nextCheckAt: new Date() };
    const open = { executionId: newId("execution"), ...settlement };
    await database()
      .insert(executions)
      .values([
        { ...submitted, ...open },
        { ...submitted, ...open, executionId: newId("execution"), settlementStatus: "failed" },
      ]);
    await revoke(as, id);
    expect((await eventsOf(id)).at(-1)?.metadata).toMatchObject({ reason: "Leaked.", submittedExecutions: [open.executionId] });
  });

  test("waits for every request that took the shared lock before the revocation, and stops every request after it", async () => {
    const id = await activeMandate(as);
    let letGo = () => {};
    let entered = () => {};
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const open = database().transaction(async (tx) => {
      await enterGate(tx);
      entered();
      await new Promise<void>((resolve) => (letGo = resolve));
    });
    await inside;
    let done = false;
    const revoked = revoke(as, id).then((reply) => ((done = true), reply));
    const waiting = async () =>
      (await database().execute(sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).length;
    while ((await waiting()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(done).toBe(false);
    letGo();
    await open;
    expect((await revoked).status).toBe(200);
  });

  testStep({ operation, handler, buyer: () => buyer, ready: () => activeMandate(as), forKeys: true });
});
