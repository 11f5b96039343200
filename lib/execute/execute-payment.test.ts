import { eq } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { credentialClaims } from "#lib/holds/tables.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { holdsOf } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { eventsOf } from "#test/mandates.ts";
import {
  authorized,
  execute,
  expectedOf,
  paymentScene,
  readPayment,
  signed,
  useSettlement,
  type PaymentScene,
  fundedWallet,
} from "#test/payments.ts";
import { createAgent, createOrganization, send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
afterEach(async () => expect(await brokenSums()).toEqual([]));

const claimsOf = (authorizationId: string) =>
  database().select().from(credentialClaims).where(eq(credentialClaims.authorizationId, authorizationId));

const holdOf = async (scene: PaymentScene, authorizationId: string) => {
  const { data } = await readPayment(scene, authorizationId);
  return data.executions.map(({ settlementStatus }) => settlementStatus);
};

/** Changes a field of a payment after the payment was signed. */
function tampered(header: string, change: (payload: { accepted: Record<string, unknown> }) => void): string {
  const payload = JSON.parse(Buffer.from(header, "base64").toString()) as { accepted: Record<string, unknown> };
  change(payload);
  return Buffer.from(JSON.stringify(payload)).toString("base64");
}

describe("executePayment", () => {
  test("200 settled: the service settles, the seller has exactly the price, the reserved amount is captured", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const { status, data } = await execute(scene, {
      authorizationId,
      paymentCredential: await signed(wallet, expectedOf(scene)),
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      settlementStatus: "settled",
      settlementReference: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
    });
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
    expect((await eventsOf(data.executionId)).map(({ type }) => type)).toEqual(["payment.submitted", "payment.settled"]);
  });

  test.each([
    ["a week", 604_800, 604_800_000],
    ["for ever", Number.MAX_SAFE_INTEGER, null],
  ])("200 accepts a payment that is valid %s, and holds its amount until then", async (_, seconds, lifeMs) => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(await fundedWallet(chain()), expectedOf(scene, seconds));
    const { status, data } = await execute(scene, { authorizationId, paymentCredential });
    expect([status, data.settlementStatus]).toEqual([200, "pending"]);
    const until = Date.parse(data.heldUntil ?? "");
    if (lifeMs === null) expect(data.heldUntil).toBe("9999-12-31T23:59:59.000Z");
    else expect(Math.abs(until - Date.now() - lifeMs)).toBeLessThan(60_000);
    await sweepHolds();
    expect(await holdsOf(scene.mandateId)).toMatchObject([{ authorizationId, status: "submitted" }]);
    expect((await readPayment(scene, authorizationId)).data.executions).toMatchObject([{ heldUntil: data.heldUntil }]);
  });

  test("200 replays the same bytes, and parallel requests with one key have one effect", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const request = { authorizationId, idempotencyKey: "same", paymentCredential: await signed(wallet, expectedOf(scene)) };
    const replies = await Promise.all([1, 2, 3, 4, 5, 6].map(() => execute(scene, request)));
    expect(new Set(replies.map(({ status }) => status)).difference(new Set([200, 409]))).toEqual(new Set());
    expect(new Set(replies.filter(({ status }) => status === 200).map(({ data }) => JSON.stringify(data))).size).toBe(1);
    const again = await execute(scene, request);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await chain().balanceOf(wallet.address)).toBe(750_000n);
    const other = await execute(scene, { ...request, authorizationId: (await authorized(scene)).authorizationId });
    expect([other.status, other.problem.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("200 a repeat with a new signature gets the headers of the first call, and binds nothing else", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const ask = async () =>
      execute(scene, { authorizationId, idempotencyKey: "anew", paymentCredential: await signed(wallet, expectedOf(scene)) });
    const [first, twin] = await Promise.all([ask(), ask()]);
    const again = await ask();
    expect([first.status, twin.status, again.status]).toEqual([200, 200, 200]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(new Set([first, twin, again].map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(await holdOf(scene, authorizationId)).toEqual(["pending"]);
    expect(await claimsOf(authorizationId)).toHaveLength(1);
  });

  test("402 a repeated failure with a new signature gets the failure, which says how to continue without a second hold", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain(), 100_000n);
    const { authorizationId } = await authorized(scene);
    const ask = async (idempotencyKey: string) =>
      execute(scene, { authorizationId, idempotencyKey, paymentCredential: await signed(wallet, expectedOf(scene)) });
    const failed = await ask("poor-anew");
    await chain().mint(wallet.address, 1_000_000n);
    const again = await ask("poor-anew");
    expect([again.status, again.problem]).toEqual([402, failed.problem]);
    const sign = again.problem.nextActions.find(({ type }) => type === "sign_credential");
    expect(sign?.description).toMatch(/same authorization.*new idempotencyKey/);
    expect((await ask("rich-anew")).status).toBe(200);
    expect(await holdOf(scene, authorizationId)).toEqual(["pending", "failed"]);
  });

  test("409 an authorization that was executed under another key names its execution, and suggests no second payment", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const ask = async (idempotencyKey: string) =>
      execute(scene, { authorizationId, idempotencyKey, paymentCredential: await signed(wallet, expectedOf(scene)) });
    await ask("consumed-1");
    const { problem } = await ask("consumed-2");
    expect(problem.code).toBe("authorization_consumed");
    expect(problem.detail).not.toMatch(/authorize again/i);
    expect(problem.nextActions).toMatchObject([
      { type: "poll_status", metadata: { pollWith: { method: "GET", path: `/api/v1/payments/${authorizationId}` } } },
    ]);
  });

  test("409 a second execution of one authorization, four in parallel make one debit", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const credentials = await Promise.all([1, 2, 3, 4].map(() => signed(wallet, expectedOf(scene))));
    const replies = await Promise.all(
      credentials.map((paymentCredential) => execute(scene, { authorizationId, paymentCredential })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.problem.code).toBe("authorization_consumed");
    expect(await chain().balanceOf(wallet.address)).toBe(750_000n);
  });

  test("402 credential_missing says what to sign and stores nothing: the same key can be used again", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const first = await execute(scene, { authorizationId, idempotencyKey: "again" });
    expect([first.status, first.problem.code]).toEqual([402, "credential_missing"]);
    expect(first.problem).toMatchObject({
      payment: { amount: "0.25", amountAtomic: "250000", asset: "USDC", chain: "eip155:84532" },
      nextActions: [{ type: "sign_credential" }],
    });
    expect(await holdOf(scene, authorizationId)).toEqual([]);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    const second = await execute(scene, { authorizationId, idempotencyKey: "again", paymentCredential });
    expect([second.status, second.data.settlementStatus]).toEqual([200, "pending"]);
  });

  test("402 insufficient_funds shows the balance, and the authorization stays usable with a new key", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain(), 100_000n);
    const { authorizationId } = await authorized(scene);
    const request = { authorizationId, idempotencyKey: "poor", paymentCredential: await signed(wallet, expectedOf(scene)) };
    const { status, problem } = await execute(scene, request);
    expect([status, problem.code, problem.category, problem.actor]).toEqual([
      402,
      "insufficient_funds",
      "buyer_action_required",
      "buyer",
    ]);
    expect(problem.payment).toMatchObject({
      balance: "0.1",
      balanceAtomic: "100000",
      requiredAmount: "0.15",
      requiredAmountAtomic: "150000",
    });
    expect(problem.nextActions[0]).toMatchObject({ type: "fund_wallet", amount: "0.15", address: wallet.address.toLowerCase() });
    expect(problem.instance).toMatch(/^\/api\/v1\/payments\/executions\/exe_/);
    expect((await execute(scene, request)).problem).toEqual(problem);
    await chain().mint(wallet.address, 1_000_000n);
    const paid = await execute(scene, { ...request, idempotencyKey: "rich" });
    expect([paid.status, paid.data.settlementStatus]).toEqual([200, "pending"]);
    expect(await holdOf(scene, authorizationId)).toEqual(["pending", "failed"]);
  });

  test("402 for a signed payment that was used for another authorization", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const paymentCredential = await signed(wallet, expectedOf(scene));
    const first = await authorized(scene);
    expect((await execute(scene, { authorizationId: first.authorizationId, paymentCredential })).status).toBe(200);
    const second = await authorized(scene);
    const { status, problem } = await execute(scene, { authorizationId: second.authorizationId, paymentCredential });
    expect([status, problem.code]).toEqual([402, "nonce_already_used"]);
  });

  test("402 names the differing field, records the failure and keeps the amount reserved", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const stranger = await fundedWallet(chain());
    const expected = expectedOf(scene);
    const good = await signed(wallet, expected);
    const forged = Buffer.from(Buffer.from(good, "base64").toString().replaceAll(wallet.address, stranger.address)).toString(
      "base64",
    );
    const { authorizationId } = await authorized(scene);
    const cases: readonly (readonly [string, string])[] = [
      ["credential_malformed", "!!!"],
      ["credential_malformed", "e30="],
      ["credential_malformed", "A".repeat(98_304)],
      ["amount_mismatch", tampered(good, ({ accepted }) => (accepted["amount"] = "1"))],
      ["recipient_mismatch", await signed(wallet, { ...expected, payTo: lower(stranger.address) })],
      ["amount_mismatch", await signed(wallet, { ...expected, amount: 250_001n })],
      ["token_domain_mismatch", await signed(wallet, { ...expected, asset: { ...expected.asset, tokenName: "USD Coin" } })],
      [
        "signature_invalid",
        tampered(
          await signed(wallet, { ...expected, asset: { ...expected.asset, tokenName: "USD Coin" } }),
          ({ accepted }) => (accepted["extra"] = { name: "USDC", version: "2" }),
        ),
      ],
      ["signature_invalid", forged],
      ["credential_expired", await signed(wallet, { ...expected, maxTimeoutSeconds: 5 })],
      ["network_mismatch", tampered(good, ({ accepted }) => (accepted["network"] = "eip155:8453"))],
      ["scheme_unsupported", tampered(good, ({ accepted }) => (accepted["scheme"] = "upto"))],
    ];
    for (const [code, paymentCredential] of cases) {
      const { status, problem } = await execute(scene, { authorizationId, paymentCredential });
      expect([status, problem.code]).toEqual([402, code]);
    }
    const { data } = await readPayment(scene, authorizationId);
    expect(data.executions.map(({ failureCode }) => failureCode).toReversed()).toEqual(cases.map(([code]) => code));
    expect((await execute(scene, { authorizationId, paymentCredential: good })).status).toBe(200);
  });

  test("402 signer_mismatch: a mandate with a wallet is paid only from that wallet", async () => {
    const wallet = await fundedWallet(chain());
    const scene = await paymentScene({ mandate: { wallet: { chain: "eip155:84532", address: wallet.address } } });
    const stranger = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const refused = await execute(scene, { authorizationId, paymentCredential: await signed(stranger, expectedOf(scene)) });
    expect([refused.status, refused.problem.code]).toEqual([402, "signer_mismatch"]);
    expect((await execute(scene, { authorizationId, paymentCredential: await signed(wallet, expectedOf(scene)) })).status).toBe(
      200,
    );
  });

  test("403 if denied, not approved yet or called by another agent; 404 for another organization", async () => {
    const scene = await paymentScene({ price: "2" });
    const denied = await authorized(scene);
    expect(denied.policyDecision.outcome).toBe("deny");
    const refusal = await execute(scene, { authorizationId: denied.authorizationId });
    expect([refusal.status, refusal.problem.code]).toEqual([403, "policy_denied"]);
    const limits = { perPayment: "1", total: "5" };
    const careful = await paymentScene({
      mandate: { policy: { assets: [{ asset: "USDC", chain: "eip155:84532" }], limits, approval: { mode: "always" } } },
    });
    const waiting = await authorized(careful);
    const approval = await execute(careful, { authorizationId: waiting.authorizationId });
    expect([approval.status, approval.problem.code]).toEqual([403, "approval_required"]);
    const colleague = await createAgent(careful.organizationId, ["payments:execute"]);
    const other = await execute(careful, { authorizationId: waiting.authorizationId }, colleague.credential);
    expect([other.status, other.problem.code]).toEqual([403, "forbidden"]);
    const foreign = await createAgent(await createOrganization(), ["payments:execute"]);
    expect((await execute(careful, { authorizationId: waiting.authorizationId }, foreign.credential)).status).toBe(404);
  });

  test("403 after the mandate was suspended, and nothing is submitted", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    await send(mandates.suspendMandate, suspendMandate, { as: scene.person.credential, id: scene.mandateId });
    const { status, problem } = await execute(scene, {
      authorizationId,
      paymentCredential: await signed(wallet, expectedOf(scene)),
    });
    expect([status, problem.code]).toEqual([403, "mandate_not_active"]);
    expect(await chain().balanceOf(wallet.address)).toBe(1_000_000n);
  });

  test("410 for an authorization that has expired", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene, { expiresAt: new Date(Date.now() + 2_000).toISOString() });
    const codeOf = async () => (await execute(scene, { authorizationId })).problem.code;
    await expect.poll(codeOf).toBe("authorization_expired");
    expect((await execute(scene, { authorizationId })).status).toBe(410);
  });
});
