import { beforeAll, expect, test } from "vitest";
import type { Handler, Operation } from "#lib/http/operation.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import * as contract from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { createBuyer, draftMandate, eventsOf, type Buyer } from "#test/mandates.ts";
import { raiseStepUp } from "#test/proofs.ts";
import { createAgent, send, type Credential } from "#test/tenant.ts";

/* The operations that change the status of a mandate. */

export const activate = (as: Credential, id: string) => send(contract.activateMandate, activateMandate, { as, id });
export const suspend = (as: Credential, id: string) =>
  send(contract.suspendMandate, suspendMandate, { as, id, body: { reason: "Pause." } });
export const resume = (as: Credential, id: string) => send(contract.resumeMandate, resumeMandate, { as, id });
export const revoke = (as: Credential, id: string) =>
  send(contract.revokeMandate, revokeMandate, { as, id, body: { reason: "Leaked." } });

export const typesOf = async (id: string): Promise<string[]> => (await eventsOf(id)).map(({ type }) => type);

/**
 * A buyer, with the session of its person, for the tests of a file. It is created before the first test. Call this after
 * useDatabase.
 */
export function useBuyer(): { readonly buyer: Buyer; readonly as: Credential } {
  const buyer = {} as Buyer;
  const as: Credential = {};
  beforeAll(async () => {
    Object.assign(buyer, await createBuyer());
    Object.assign(as, buyer.person.credential);
    await raiseStepUp(buyer.organizationId);
  });
  return { buyer, as };
}

type Step = {
  readonly operation: Operation;
  readonly handler: unknown;
  readonly buyer: () => Buyer;
  /** Creates a mandate whose status the operation can change. */
  readonly ready: () => Promise<string>;
  readonly forKeys: boolean;
};

/** The tests that are the same for all operations that change a mandate's status. */
export function testStep({ operation, handler, buyer, ready, forKeys }: Step): void {
  const step = (sent: Parameters<typeof send>[2]) => send(operation, handler as Handler<Operation>, sent);
  const owner = () => buyer().person.credential;

  test("404 hides a mandate of another organization and changes nothing", async () => {
    const { mandateId } = await draftMandate(owner());
    expect((await step({ as: buyer().foreign, id: mandateId })).status).toBe(404);
    expect(await typesOf(mandateId)).toEqual(["mandate.created"]);
  });

  test("a key may only take rights away", async () => {
    const all = ["mandates:read", "mandates:create", "mandates:revoke"] as const;
    const { credential } = await createAgent(buyer().organizationId, all);
    const { status, problem } = await step({ as: credential, id: await ready() });
    expect(forKeys ? status : [status, problem.code]).toEqual(forKeys ? 200 : [403, "forbidden"]);
  });

  test("400 for a field that it does not know", async () => {
    const { mandateId } = await draftMandate(owner());
    expect((await step({ as: owner(), id: mandateId, body: { status: "active" } })).status).toBe(400);
  });

  test("a repeat with the same idempotency key gets the same reply and changes nothing more", async () => {
    const id = await ready();
    const [first, again] = [await step({ as: owner(), id, key: "once" }), await step({ as: owner(), id, key: "once" })];
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(again.data).toEqual(first.data);
    expect((await typesOf(id)).length).toBe(new Set(await typesOf(id)).size);
    expect((await step({ as: owner(), id: (await draftMandate(owner())).mandateId, key: "once" })).problem.code).toBe(
      "idempotency_key_reused",
    );
  });
}
