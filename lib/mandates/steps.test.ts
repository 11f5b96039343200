import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import type { Handler, Operation } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import * as contract from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { executions } from "#lib/holds/tables.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, draftMandate, eventsOf, type Buyer } from "#test/mandates.ts";
import { createAgent, send, type Credential } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
let as: Credential;
beforeAll(async () => {
  buyer = await createBuyer();
  as = buyer.person.credential;
});

const activate = (id: string) => send(contract.activateMandate, activateMandate, { as, id });
const suspend = (id: string, by = as) =>
  send(contract.suspendMandate, suspendMandate, { as: by, id, body: { reason: "Pause." } });
const resume = (id: string) => send(contract.resumeMandate, resumeMandate, { as, id });
const revoke = (id: string, by = as) => send(contract.revokeMandate, revokeMandate, { as: by, id, body: { reason: "Leaked." } });
const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type);

describe("activateMandate", () => {
  test("200 makes a draft usable", async () => {
    const { mandateId } = await draftMandate(as);
    expect((await authorize(buyer, mandateId)).policyDecision).toMatchObject({
      outcome: "deny",
      denialCode: "mandate_not_active",
    });
    expect(await activate(mandateId)).toMatchObject({ status: 200, data: { status: "active", version: 1 } });
    expect((await authorize(buyer, mandateId)).policyDecision.outcome).toBe("allow");
  });

  test("200 again without a second event", async () => {
    const id = await activeMandate(as);
    expect((await activate(id)).status).toBe(200);
    expect(await typesOf(id)).toEqual(["mandate.created", "mandate.activated"]);
  });

  test("409 for a suspended or a revoked mandate", async () => {
    const id = await activeMandate(as);
    await suspend(id);
    expect(await activate(id)).toMatchObject({ status: 409, problem: { code: "conflict" } });
    await revoke(id);
    expect(await activate(id)).toMatchObject({ status: 409, problem: { code: "conflict" } });
  });
});

describe("suspendMandate", () => {
  test("200 denies later payments until a person resumes the mandate", async () => {
    const id = await activeMandate(as);
    const { credential } = await createAgent(buyer.organizationId, ["mandates:revoke"]);
    expect(await suspend(id, credential)).toMatchObject({ status: 200, data: { status: "suspended" } });
    expect((await authorize(buyer, id)).policyDecision.denialCode).toBe("mandate_suspended");
    expect(await resume(id)).toMatchObject({ status: 200, data: { status: "active" } });
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
    expect((await suspend(mandateId)).status).toBe(409);
  });
});

describe("resumeMandate", () => {
  test("409 for a draft and for a revoked mandate", async () => {
    const { mandateId } = await draftMandate(as);
    expect((await resume(mandateId)).status).toBe(409);
    await revoke(mandateId);
    expect((await resume(mandateId)).status).toBe(409);
  });
});

describe("revokeMandate", () => {
  test("200 is final, also by a key", async () => {
    const id = await activeMandate(as);
    const { credential } = await createAgent(buyer.organizationId, ["mandates:revoke"]);
    expect(await revoke(id, credential)).toMatchObject({ status: 200, data: { status: "revoked" } });
    expect((await authorize(buyer, id)).policyDecision.denialCode).toBe("mandate_revoked");
    expect((await revoke(id)).status).toBe(200);
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
    const open = { executionId: newId("execution"), settlementMode: "offchainAuthorized", settlementStatus: "unknown" };
    await database()
      .insert(executions)
      .values([
        { ...submitted, ...open },
        { ...submitted, ...open, executionId: newId("execution"), settlementStatus: "failed" },
      ]);
    await revoke(id);
    expect((await eventsOf(id)).at(-1)?.metadata).toMatchObject({ reason: "Leaked.", submittedExecutions: [open.executionId] });
  });

  test("waits for everything that passed the gate before it, and stops everything after it", async () => {
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
    const revoked = revoke(id).then((reply) => ((done = true), reply));
    const waiting = async () =>
      (await database().execute(sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).length;
    while ((await waiting()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(done).toBe(false);
    letGo();
    await open;
    expect((await revoked).status).toBe(200);
  });
});

describe("every step", () => {
  type Row = [name: string, operation: Operation, handler: Handler<Operation>, forKeys: boolean];
  const rows = [
    ["activateMandate", contract.activateMandate, activateMandate, false],
    ["resumeMandate", contract.resumeMandate, resumeMandate, false],
    ["suspendMandate", contract.suspendMandate, suspendMandate, true],
    ["revokeMandate", contract.revokeMandate, revokeMandate, true],
  ] as unknown as Row[];

  test.each(rows)("%s: 404 for a mandate of another organization, which is not changed", async (_name, operation, handler) => {
    const { mandateId } = await draftMandate(as);
    expect((await send(operation, handler, { as: buyer.foreign, id: mandateId })).status).toBe(404);
    expect(await typesOf(mandateId)).toEqual(["mandate.created"]);
  });

  test.each(rows)("%s: a key may only remove rights", async (_name, operation, handler, forKeys) => {
    const all = ["mandates:read", "mandates:create", "mandates:revoke"] as const;
    const { credential } = await createAgent(buyer.organizationId, all);
    const id = await activeMandate(as);
    const { status, problem } = await send(operation, handler, { as: credential, id });
    expect(forKeys ? status : [status, problem.code]).toEqual(forKeys ? 200 : [403, "forbidden"]);
  });

  test.each(rows)("%s: 400 for an unknown field", async (_name, operation, handler) => {
    const { mandateId } = await draftMandate(as);
    expect((await send(operation, handler, { as, id: mandateId, body: { status: "active" } })).status).toBe(400);
  });
});
