import { describe, expect, test } from "vitest";
import * as contract from "#lib/payments/contract.ts";
import { getExecution } from "#lib/payments/executions/get-execution.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import { useDatabase } from "#test/database.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  paymentScene,
  readPayment,
  signed,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();

const list = (as: Credential, query: Record<string, string> = {}) =>
  send(contract.listPayments, listPayments, { as, query: `?${new URLSearchParams(query)}` });

async function pending(scene: PaymentScene, idempotencyKey: string) {
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const { authorizationId } = await authorized(scene);
  const { data } = await execute(scene, {
    authorizationId,
    idempotencyKey,
    paymentCredential: await signed(wallet, expectedOf(scene)),
  });
  return data;
}

describe("listPayments", () => {
  test("pages newest first and neither loses nor repeats a payment", async () => {
    const scene = await paymentScene();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await authorized(scene)).authorizationId);
    const as = scene.agent.credential;
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await list(as, { limit: "2", ...(cursor && { cursor }) });
      seen.push(...data.items.map(({ authorization }) => authorization.authorizationId));
      expect(data.hasMore).toBe(data.nextCursor !== undefined);
      cursor = data.nextCursor;
    } while (cursor);
    expect(seen).toEqual(ids.toReversed());
  });

  test("finds by outcome, settlement status, mandate, and by the idempotency key of a lost authorize or execute request", async () => {
    const scene = await paymentScene();
    const as = scene.agent.credential;
    const idle = await authorized(scene);
    const denied = await authorized(scene, { amount: "0.26" });
    const { authorizationId } = await pending(scene, "lost-execute");
    const found = async (query: Record<string, string>) =>
      (await list(as, query)).data.items.map((item) => item.authorization.authorizationId);
    expect(await found({ outcome: "deny" })).toEqual([denied.authorizationId]);
    expect(await found({ settlementStatus: "pending" })).toEqual([authorizationId]);
    expect(await found({ settlementStatus: "settled" })).toEqual([]);
    expect(await found({ idempotencyKey: "lost-execute" })).toEqual([authorizationId]);
    const { intent } = (await readPayment(scene, idle.authorizationId)).data;
    expect(await found({ idempotencyKey: intent.idempotencyKey })).toEqual([idle.authorizationId]);
    expect(await found({ idempotencyKey: "never-used" })).toEqual([]);
    expect(await found({ mandateId: scene.mandateId })).toHaveLength(3);
    expect(await found({ mandateId: "mdt_other" })).toEqual([]);
  });

  test("shows the headers with the signed payment to the subject that executed and to nobody else", async () => {
    const scene = await paymentScene();
    const { executionId, authorizationId } = await pending(scene, "headers");
    const read = (as: Credential) => send(contract.getExecution, getExecution, { as, id: executionId });
    expect((await read(scene.agent.credential)).data.credentialHeaders).toHaveProperty("PAYMENT-SIGNATURE");
    const colleague = await createAgent(scene.organizationId, ["payments:read"]);
    expect((await read(colleague.credential)).data).not.toHaveProperty("credentialHeaders");
    expect(JSON.stringify((await list(colleague.credential)).data)).not.toContain("PAYMENT-SIGNATURE");
    expect((await readPayment(scene, authorizationId)).data.executions[0]).toHaveProperty("credentialHeaders");
  });

  test("404 or an empty list for payments of another organization", async () => {
    const scene = await paymentScene();
    const { executionId } = await pending(scene, "hidden");
    const foreign = (await createPerson(await createOrganization())).credential;
    expect((await list(foreign)).data.items).toEqual([]);
    expect((await list(foreign, { idempotencyKey: "hidden" })).data.items).toEqual([]);
    expect((await send(contract.getExecution, getExecution, { as: foreign, id: executionId })).status).toBe(404);
  });
});
