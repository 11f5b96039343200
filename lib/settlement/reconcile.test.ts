import { eq } from "drizzle-orm";
import { toHex, type Address, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterEach, describe, expect, test } from "vitest";
import { abi } from "../../contracts/artifacts/TestUSDC.json" with { type: "json" };
import { auditEvents } from "#lib/audit/tables.ts";
import { transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { lockMandate } from "#lib/holds/hold-store.ts";
import { resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { useDatabase } from "#test/database.ts";
import { expireNow, ofAuthorization, ofMandate, setHolds } from "#test/holds.ts";
import { brokenSums } from "#test/invariants.ts";
import { eventsOf } from "#test/mandates.ts";
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
import { stockFacilitator } from "#test/shop.ts";
import { send } from "#test/tenant.ts";
import type { PaymentPayload } from "@x402/core/types";

useDatabase();
const chain = useSettlement();
afterEach(async () => expect(await brokenSums()).toEqual([]));

const usdc: Address = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const domain = { name: "USDC", version: "2", chainId: 84_532, verifyingContract: usdc } as const;

async function pendingPayment(mandate: Record<string, unknown> = {}) {
  const scene = await paymentScene({ mandate });
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const { data } = await execute(scene, { authorizationId, paymentCredential });
  const payload = JSON.parse(Buffer.from(paymentCredential, "base64").toString()) as PaymentPayload;
  const { nonce } = (payload.payload as { authorization: { nonce: Hex } }).authorization;
  return { scene, wallet, authorizationId, executionId: data.executionId, payload, nonce };
}

async function lookAgain(executionId: string) {
  await database()
    .update(executions)
    .set({ nextCheckAt: new Date(0) })
    .where(eq(executions.executionId, executionId));
  await reconcile();
  const [row] = await database().select().from(executions).where(eq(executions.executionId, executionId));
  return row;
}

const settleAtSeller = async (payload: PaymentPayload) => (await stockFacilitator(chain())).settle(payload, payload.accepted);

/** The types of the organization's audit events, in the order in which they were committed. */
async function organizationEvents(organizationId: string): Promise<string[]> {
  const rows = await database()
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.chain, organizationId))
    .orderBy(auditEvents.sequence);
  return rows.map(({ type }) => type);
}

const mandateOf = ({ person, mandateId }: PaymentScene) =>
  send(mandates.getMandate, getMandate, { as: person.credential, id: mandateId });

async function cancel(wallet: PrivateKeyAccount, nonce: Hex): Promise<void> {
  const types = {
    CancelAuthorization: [
      { name: "authorizer", type: "address" },
      { name: "nonce", type: "bytes32" },
    ],
  } as const;
  const signature = await wallet.signTypedData({
    domain,
    types,
    primaryType: "CancelAuthorization",
    message: { authorizer: wallet.address, nonce },
  });
  await chain().mined(
    chain().client.writeContract({
      address: usdc,
      abi,
      functionName: "cancelAuthorization",
      args: [wallet.address, nonce, signature],
    }),
  );
}

/** Uses the nonce for a transfer of another amount to the same seller. */
async function payOther(wallet: PrivateKeyAccount, to: Address, nonce: Hex): Promise<void> {
  const names = ["from", "to", "value", "validAfter", "validBefore", "nonce"] as const;
  const typeOf = {
    from: "address",
    to: "address",
    value: "uint256",
    validAfter: "uint256",
    validBefore: "uint256",
    nonce: "bytes32",
  } as const;
  const types = { TransferWithAuthorization: names.map((name) => ({ name, type: typeOf[name] })) };
  const message = { from: wallet.address, to, value: 1n, validAfter: 0n, validBefore: 2n ** 40n, nonce };
  const signature = await wallet.signTypedData({ domain, types, primaryType: "TransferWithAuthorization", message });
  const args = [...names.map((name) => message[name]), signature];
  await chain().mined(
    chain().client.writeContract({
      address: usdc,
      abi,
      functionName: "transferWithAuthorization",
      args,
    }),
  );
}

describe("reconcile", () => {
  test("a payment that its seller settles is captured once, with fees, an entry for its payee, and audit events", async () => {
    const { scene, authorizationId, executionId, payload } = await pendingPayment();
    expect((await lookAgain(executionId))?.settlementStatus).toBe("pending");
    const { transaction } = await settleAtSeller(payload);
    expect(await lookAgain(executionId)).toMatchObject({
      settlementStatus: "settled",
      settlementReference: transaction,
      credential: null,
      nextCheckAt: null,
    });
    await Promise.all(
      [1, 2, 3].map(() =>
        transact(async (tx) => resolveExecution(tx, executionId, scene.mandateId, { kind: "settled", transaction })),
      ),
    );
    const usage = (await mandateOf(scene)).data.usage[0];
    expect(usage).toMatchObject({ spent: "0.25", reserved: "0" });
    expect((await eventsOf(executionId)).map(({ type }) => type)).toEqual(["payment.submitted", "payment.settled"]);
    expect((await readPayment(scene, authorizationId)).data.executions[0]?.settlementReference).toBe(transaction);
  });

  test("a signed payment that its payer canceled on the chain fails on evidence, and the hold is released", async () => {
    const { scene, wallet, executionId, nonce } = await pendingPayment();
    await cancel(wallet, nonce);
    expect(await lookAgain(executionId)).toMatchObject({ settlementStatus: "failed", failureCode: "settlement_rejected" });
    expect((await mandateOf(scene)).data.usage[0]).toMatchObject({ spent: "0", reserved: "0" });
  });

  test("a nonce that was used for another transfer does not settle this payment", async () => {
    const { scene, wallet, executionId, nonce } = await pendingPayment();
    await payOther(wallet, scene.seller.payTo, nonce);
    expect(await lookAgain(executionId)).toMatchObject({ settlementStatus: "failed", failureCode: "nonce_already_used" });
  });

  test("a submitted hold is captured even after its own expiry and the revocation of its mandate", async () => {
    const { scene, authorizationId, executionId, payload } = await pendingPayment();
    await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId });
    await expireNow(ofAuthorization(authorizationId));
    await sweepHolds();
    expect((await lookAgain(executionId))?.settlementStatus).toBe("pending");
    await settleAtSeller(payload);
    expect((await lookAgain(executionId))?.settlementStatus).toBe("settled");
  });

  test("two workers share the queue, and each execution is taken by one of them", async () => {
    const payments = await Promise.all([1, 2, 3, 4].map(() => pendingPayment()));
    await database()
      .update(executions)
      .set({ nextCheckAt: new Date(0), attempts: 0 })
      .where(eq(executions.settlementStatus, "pending"));
    const taken = await Promise.all([reconcile(), reconcile(), reconcile()]);
    expect(taken.reduce((sum, count) => sum + count, 0)).toBe(payments.length);
  });

  /** A payment that settles although its hold was released and its amount reserved again. */
  async function overrun(beforeSettling: (scene: PaymentScene) => Promise<unknown>) {
    const policy = { assets: [{ asset: "USDC", chain: "eip155:84532" }], limits: { perPayment: "0.3", total: "0.3" } };
    const { scene, authorizationId, executionId } = await pendingPayment({ policy });
    const { mandateId } = scene;
    // Releases the reserved amount although its signed payment was already returned, as a bug or an operator could.
    await setHolds(ofAuthorization(authorizationId), { status: "released" });
    await database().execute(`UPDATE mandates SET reserved = 0 WHERE mandate_id = '${mandateId}'`);
    const second = await authorized(scene);
    expect(second.policyDecision.outcome).toBe("allow");
    await beforeSettling(scene);
    const transaction = toHex(1, { size: 32 });
    await transact(async (tx) => resolveExecution(tx, executionId, mandateId, { kind: "settled", transaction }));
    expect((await eventsOf(executionId)).map(({ type }) => type)).toContain("reservation.overrun");
    const suspensions = (await eventsOf(mandateId)).filter(({ type }) => type === "mandate.suspended").length;
    return { scene, status: (await mandateOf(scene)).data.status, suspensions };
  }

  test("a payment that settles after its hold was released is an overrun, and suspends a mandate whose limit it exceeds", async () => {
    const { scene, status, suspensions } = await overrun(() => Promise.resolve());
    expect([status, suspensions]).toEqual(["suspended", 1]);
    expect((await authorized(scene)).policyDecision.denialCode).toBe("mandate_suspended");
  });

  test("an overrun of a revoked mandate writes no event that says it was suspended", async () => {
    const { status, suspensions } = await overrun(({ mandateId, person }) =>
      send(mandates.revokeMandate, revokeMandate, { as: person.credential, id: mandateId }),
    );
    expect([status, suspensions]).toEqual(["revoked", 0]);
  });

  test("a signed payment that nobody settled fails after its expiry on the chain", async () => {
    const { scene, executionId, authorizationId } = await pendingPayment();
    await chain().client.increaseTime({ seconds: 301 });
    await chain().client.mine({ blocks: 1 });
    expect(await lookAgain(executionId)).toMatchObject({ settlementStatus: "failed", failureCode: "settlement_rejected" });
    expect((await mandateOf(scene)).data.usage[0]).toMatchObject({ spent: "0", reserved: "0" });
    const again = await execute(scene, { authorizationId });
    expect([again.status, again.problem.code]).toEqual([409, "authorization_consumed"]);
  });
});

describe("sweepHolds", () => {
  test("releases only expired holds and the holds of a revoked mandate", async () => {
    const scene = await paymentScene();
    const old = await authorized(scene);
    const live = await authorized(scene);
    await expireNow(ofAuthorization(old.authorizationId));
    await Promise.all([sweepHolds(), sweepHolds()]);
    const statusOf = async (authorizationId: string) =>
      (await database().select().from(reservations).where(eq(reservations.authorizationId, authorizationId)))[0]?.status;
    expect([await statusOf(old.authorizationId), await statusOf(live.authorizationId)]).toEqual(["expired", "held"]);
    expect((await mandateOf(scene)).data.usage[0]).toMatchObject({ spent: "0", reserved: "0.25" });
    expect((await execute(scene, { authorizationId: old.authorizationId })).problem.code).toBe("authorization_expired");
    await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId });
    await sweepHolds();
    expect(await statusOf(live.authorizationId)).toBe("expired");
    expect((await eventsOf(scene.mandateId)).filter(({ type }) => type === "reservation.expired")).toHaveLength(2);
  });

  test("skips a locked mandate, and later releases its holds, so that nothing of its budget is reserved", async () => {
    const policy = {
      assets: [{ asset: "USDC", chain: "eip155:84532" }],
      limits: { perPayment: "1", budgets: [{ rolling: "PT1H", amount: "100" }] },
    };
    const scene = await paymentScene({ price: "0.01", mandate: { policy } });
    await Promise.all(Array.from({ length: 40 }, () => authorized(scene)));
    await expireNow(ofMandate(scene.mandateId));
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const busy = database().transaction(async (tx) => {
      await lockMandate(tx, scene.mandateId);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const sweep = sweepHolds();
    setTimeout(release.resolve, 300);
    expect(await sweep).toBe(40);
    await busy;
    expect((await mandateOf(scene)).data.usage[0]).toMatchObject({ spent: "0", reserved: "0" });
  });
});

describe("revocation", () => {
  test("after it is acknowledged nothing is submitted, with any number of parallel executions", async () => {
    for (let round = 0; round < 3; round++) {
      const scene = await paymentScene({ price: "0.01" });
      const wallet = newWallet();
      await chain().mint(wallet.address, 1_000_000n);
      const payments = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { authorizationId } = await authorized(scene);
          // An earlier test of this file moved the chain's clock forward by five minutes, so this payment is signed for a
          // longer time.
          return { authorizationId, paymentCredential: await signed(wallet, expectedOf(scene, 900)) };
        }),
      );
      const replies = Promise.all(payments.map((payment) => execute(scene, payment)));
      await new Promise((resolve) => setTimeout(resolve, round * 15));
      await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId });
      const statuses = (await replies).map(({ status, problem }) => (status === 200 ? "submitted" : problem.code));
      expect(new Set(statuses).difference(new Set(["submitted", "mandate_revoked"]))).toEqual(new Set());
      const events = await organizationEvents(scene.organizationId);
      const revoked = events.indexOf("mandate.revoked");
      expect(revoked).toBeGreaterThan(0);
      expect(events.slice(revoked)).not.toContain("payment.submitted");
    }
  });
});
