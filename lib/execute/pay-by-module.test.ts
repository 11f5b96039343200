import { and, eq, isNull } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { mandateVersions } from "#lib/mandates/tables.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { periodAt } from "#lib/onchain/registry/periods.ts";
import { readBudget } from "#lib/onchain/registry/read-budget.ts";
import { findRegistration } from "#lib/onchain/registry/registration-store.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { underLease } from "#lib/onchain/relay-lease-store.ts";
import { registrationSlots, relayedTransactions, relayLeases } from "#lib/onchain/tables.ts";
import { executions } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { freeNonceSlots } from "#lib/settlement/free-nonce-slots.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { useDatabase } from "#test/database.ts";
import { revokeOnChain } from "#test/mandate-on-chain.ts";
import { CHAIN } from "#test/mandates.ts";
import { authorized, execute, paymentScene, readPayment, useSettlement, type PaymentScene } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { registeredScene, useContracts, type RegisteredScene } from "#test/registered.ts";
import { fundSenders, makeDue } from "#test/relays.ts";
import { MODULE, newKey } from "#test/smart-account.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
beforeAll(() => fundSenders(chain()));
afterAll(async () => expect(await brokenInvariants()).toEqual([]));

const onchain = { enforcementPath: "onchain" };
type Given = NonNullable<Parameters<typeof registeredScene>[2]>;

const registered = ({ terms, ...scene }: Given = {}) =>
  registeredScene(chain(), contracts(), { ...scene, terms: { enforcementPath: MODULE, ...terms } });
const sellerHas = ({ seller }: PaymentScene) => chain().balanceOf(seller.payTo);
const slotsOf = async ({ registrationId }: RegisteredScene) =>
  (await database().select().from(registrationSlots).where(eq(registrationSlots.registrationId, registrationId))).map(
    ({ status }) => status,
  );

async function pay(scene: PaymentScene) {
  const { authorizationId } = await authorized(scene, onchain);
  return { authorizationId, ...(await execute(scene, { authorizationId })) };
}

/** Holds the lease of the process that sends transactions, so that no process sends one, until the returned function is called. */
async function whileNobodySends(): Promise<() => Promise<unknown>> {
  await database().delete(relayLeases);
  process.env["FACILITATOR_TIMEOUT_MS"] = "500";
  forget("env");
  const [taken, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = underLease(CHAIN, "relayer", () => {
    taken.resolve();
    return ended.promise;
  });
  await taken.promise;
  const go = (): Promise<unknown> => {
    ended.resolve();
    return held;
  };
  onTestFinished(async () => {
    delete process.env["FACILITATOR_TIMEOUT_MS"];
    forget("env");
    await go();
  });
  return go;
}

/** Runs the relay and the reconciler once and returns the newest execution of the authorization. */
async function followed(scene: PaymentScene, authorizationId: string) {
  await makeDue();
  await relay();
  await database()
    .update(executions)
    .set({ nextCheckAt: new Date(0) })
    .where(and(eq(executions.authorizationId, authorizationId), isNull(executions.resolvedAt)));
  await reconcile();
  return (await readPayment(scene, authorizationId)).data.executions[0];
}

const untilSettled = (scene: PaymentScene, authorizationId: string) =>
  expect.poll(async () => (await followed(scene, authorizationId))?.settlementStatus, { interval: 100 }).toBe("settled");

describe("a payment that is enforced onchain", () => {
  test("is made by the module from the buyer's account, once, and answered with its transaction", async () => {
    const scene = await registered();
    const { authorizationId } = await authorized(scene, onchain);
    const replies = await Promise.all([1, 2, 3].map(() => execute(scene, { authorizationId, idempotencyKey: "module" })));
    const answered = replies.find(({ status }) => status === 200);
    expect(answered?.data).toMatchObject({
      settlementStatus: "settled",
      settlementMode: "smartAccount",
      enforcementPath: "onchain",
      settlementReference: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
      feeQuote: { settlementMode: "smartAccount", enforcementPath: "onchain" },
    });
    expect(Object.keys(answered?.data.credentialHeaders ?? {})).toEqual(["PAYMENT-RESPONSE"]);
    expect((await execute(scene, { authorizationId, idempotencyKey: "module" })).data).toEqual(answered?.data);
    expect((await execute(scene, { authorizationId })).problem.code).toBe("authorization_consumed");
    expect([await sellerHas(scene), await chain().balanceOf(scene.key.address)]).toEqual([250_000n, 9_750_000n]);
    expect(await slotsOf(scene)).toEqual(["used"]);
  });

  test("is counted on the chain only in its own period", async () => {
    const scene = await registered();
    await pay(scene);
    const row = (await findRegistration(database(), scene.registrationId))!;
    const { period } = periodAt(row, new Date())!;
    expect(await readBudget(row, period)).toMatchObject({ payments: 1, spent: "0.25" });
    expect(await readBudget(row, period + 1)).toMatchObject({ payments: 0, spent: "0" });
    expect(await readBudget(row, period - 1)).toBeNull();
  });

  test("of eight payments at once four are made, and four are refused with the name of the limit", async () => {
    const scene = await registered();
    const replies = await Promise.all(Array.from({ length: 8 }, () => pay(scene)));
    const codes = replies.flatMap(({ status, problem }) => (status === 200 ? [] : [problem.code]));
    expect(codes).toEqual(Array.from({ length: 4 }, () => "count_limit_exceeded"));
    const paid = replies.filter(({ status }) => status === 200);
    for (const { authorizationId } of paid) await untilSettled(scene, authorizationId);
    expect(await sellerHas(scene)).toBe(1_000_000n);
  });

  test("is processing until it is sent, and settles without its agent", async () => {
    const scene = await registered();
    const go = await whileNobodySends();
    const { data, authorizationId } = await pay(scene);
    expect([data.settlementStatus, data.enforcementPath]).toEqual(["processing", "onchain"]);
    await go();
    await untilSettled(scene, authorizationId);
    expect(await sellerHas(scene)).toBe(250_000n);
  });

  test("is not sent if the mandate was suspended while it waited: it fails, and its budget is released", async () => {
    const scene = await registered();
    const go = await whileNobodySends();
    const { authorizationId } = await pay(scene);
    const as = scene.person.credential;
    expect((await send(mandates.suspendMandate, suspendMandate, { as, id: scene.mandateId, body: {} })).status).toBe(200);
    await go();
    expect(await followed(scene, authorizationId)).toMatchObject({
      settlementStatus: "failed",
      failureCode: "settlement_rejected",
      failureDetail: expect.stringContaining("stopped before the payment was sent") as string,
    });
    expect([await sellerHas(scene), await slotsOf(scene)]).toEqual([0n, ["held"]]);
    const validBefore = new Date(Date.now() - 60_000);
    await database().update(registrationSlots).set({ validBefore });
    expect(await freeNonceSlots()).toBe(1);
  });

  test("is not sent if the mandate was changed while it waited and now forbids the seller", async () => {
    const scene = await registered();
    const go = await whileNobodySends();
    const { authorizationId } = await pay(scene);
    const [version] = await database().select().from(mandateVersions).where(eq(mandateVersions.mandateId, scene.mandateId));
    const body = { policy: { ...version!.policy, sellers: { deny: [scene.seller.sellerId] } } };
    const as = scene.person.credential;
    const { data } = await send(mandates.updateMandate, updateMandate, { as, id: scene.mandateId, body });
    expect(data.openRefused?.items).toMatchObject([{ authorizationId, state: "submitted", denialCode: "seller_denied" }]);
    await go();
    expect(await followed(scene, authorizationId)).toMatchObject({
      settlementStatus: "failed",
      failureCode: "settlement_rejected",
    });
    expect(await sellerHas(scene)).toBe(0n);
  });

  test("fails if its deadline passes without a block, and the late transaction is not sent", async () => {
    const scene = await registered();
    const go = await whileNobodySends();
    const { authorizationId } = await pay(scene);
    const validBefore = new Date(Date.now() - 60_000);
    await database().update(executions).set({ validBefore }).where(eq(executions.authorizationId, authorizationId));
    expect((await followed(scene, authorizationId))?.settlementStatus).toBe("failed");
    await go();
    await makeDue();
    await relay();
    const [row] = await database().select().from(relayedTransactions).where(eq(relayedTransactions.mandateId, scene.mandateId));
    expect(row?.status).toBe("abandoned");
    expect(await sellerHas(scene)).toBe(0n);
  });
});

describe("a refusal by the chain is reported before anything is sent", () => {
  const soon = () => Math.floor(Date.now() / 1_000);
  test.each<readonly [string, () => Given, number, string]>([
    ["a mandate that the chain does not know", () => ({ onChain: false }), 403, "mandate_not_active"],
    ["a mandate that pays by proofs", () => ({ terms: { enforcementPath: 1 } }), 403, "policy_denied"],
    ["another payee", () => ({ terms: { payee: newKey().address } }), 403, "payee_not_allowed"],
    ["another token", () => ({ terms: { token: newKey().address } }), 403, "asset_not_allowed"],
    ["a larger payment", () => ({ price: "0.26" }), 403, "per_payment_limit_exceeded"],
    ["the end of a period", () => ({ terms: { start: soon() - 3_580 } }), 429, "rate_limited"],
    ["an account that does not run our code", () => ({ delegate: false }), 402, "wallet_not_delegated"],
    ["a poor account", () => ({ balance: 1n }), 402, "insufficient_funds"],
  ])("%s", async (_name, given, status, code) => {
    const { problem, ...reply } = await pay(await registered(given()));
    expect([reply.status, problem.code]).toEqual([status, code]);
    expect(problem.nextActions.length).toBeGreaterThan(0);
  });

  test("a mandate that is revoked on the chain, and a mandate that was never registered", async () => {
    const scene = await registered();
    await revokeOnChain(chain(), contracts(), scene.key.address, scene.onChainId);
    expect((await pay(scene)).problem.code).toBe("mandate_revoked");
    const { problem } = await pay(await paymentScene());
    expect([problem.code, problem.nextActions[0]?.type]).toEqual(["mandate_not_active", "register_mandate_onchain"]);
  });

  test("400 for a signed payment, which an onchain payment does not take, and for an unknown enforcement path", async () => {
    const scene = await registered();
    const { authorizationId } = await authorized(scene, onchain);
    const { problem } = await execute(scene, { authorizationId, paymentCredential: "e30=" });
    expect([problem.code, problem.errors?.[0]?.pointer]).toEqual(["invalid_request", "/paymentCredential"]);
    await expect(authorized(scene, { enforcementPath: "hybrid" })).rejects.toThrow("/intent/enforcementPath");
  });
});
