import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import * as payments from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/sandbox/contract.ts";
import { askedSample, goods, weather } from "#lib/sandbox/samples.ts";
import { signSamplePayment } from "#lib/sandbox/sign-sample-payment.ts";
import { samplePayTo, testWallet } from "#lib/sandbox/test-wallet.ts";
import { dispatch } from "#lib/server/entry.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { useDatabase } from "#test/database.ts";
import { authorize, createBuyer, draftMandate, policy } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();

const useWallet = (key: string | undefined) => {
  if (key === undefined) delete process.env["SANDBOX_WALLET_PRIVATE_KEY"];
  else process.env["SANDBOX_WALLET_PRIVATE_KEY"] = key;
  forget("env", "sandbox/test-wallet", "sandbox/sample-seller");
};

const key = generatePrivateKey();
beforeAll(async () => {
  useWallet(key);
  await chain().fund(testWallet().address);
  await chain().mint(testWallet().address, 5_000_000n);
});

const ask = (headers: Record<string, string> = {}) => dispatch(new Request(`http://localhost${weather.path}`, { headers }));

async function mandateOf(as: Credential): Promise<string> {
  const admitting = { ...policy, sellers: { unregistered: "allow" } };
  const { mandateId } = await draftMandate(as, { policy: admitting });
  await send(mandates.activateMandate, activateMandate, { as, id: mandateId });
  return mandateId;
}

/** Authorizes the payment for the sample product with the terms in the sample seller's own 402. */
async function authorized(as: Credential, mandateId: string) {
  const unpaid = await ask();
  const challenge = decodePaymentRequiredHeader(unpaid.headers.get("payment-required") ?? "");
  const [offer] = challenge.accepts;
  const name = `sample-${crypto.randomUUID()}`;
  const intent = {
    intentId: name,
    nonce: name,
    idempotencyKey: name,
    seller: {},
    amount: weather.amount,
    asset: "USDC",
    chain: offer?.network,
    payTo: offer?.payTo,
    challenge,
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  };
  const { data } = await send(payments.authorizePayment, authorizePayment, { as, body: { mandateId, intent } });
  return { status: unpaid.status, challenge, decided: data };
}

const sign = (as: Credential, authorizationId: string) =>
  send(contract.signSamplePayment, signSamplePayment, { as, body: { authorizationId } });

describe("signSamplePayment", () => {
  test("200 pays the sample seller from the test wallet, and the service sees the settlement", async () => {
    const { person } = await createBuyer();
    const as = person.credential;
    const { status, challenge, decided } = await authorized(as, await mandateOf(as));
    expect([status, challenge.resource?.url, decided.policyDecision.outcome]).toEqual([402, weather.url, "allow"]);
    const { authorizationId } = decided;
    const { data } = await sign(as, authorizationId);
    const body = { authorizationId, idempotencyKey: authorizationId, paymentCredential: data.paymentCredential };
    const executed = await send(payments.executePayment, executePayment, { as, body });
    const paid = await ask(executed.data.credentialHeaders);
    expect([paid.status, await paid.json()]).toEqual([200, { bought: weather.title, forecast: "Sunny, 21 °C" }]);
    expect(decodePaymentResponseHeader(paid.headers.get("payment-response") ?? "").success).toBe(true);
    expect(await chain().balanceOf(samplePayTo())).toBe(2_000n);
    const read = async () =>
      (await send(payments.getPayment, getPayment, { as, id: authorizationId })).data.executions[0]?.settlementStatus;
    await expect.poll(async () => (await reconcile(), read()), { interval: 200 }).toBe("settled");
    // The seller accepts a signed payment only once.
    expect((await ask(executed.data.credentialHeaders)).status).toBe(402);
  });

  test("403 for a payment to another payee, 404 for a payment of another organization", async () => {
    const buyer = await createBuyer();
    const mandateId = await mandateOf(buyer.person.credential);
    const other = await authorize(buyer, mandateId);
    const refused = await sign(buyer.person.credential, other.authorizationId);
    expect([refused.status, refused.problem.code]).toEqual([403, "forbidden"]);
    const { decided } = await authorized(buyer.person.credential, mandateId);
    expect((await sign(buyer.foreign, decided.authorizationId)).status).toBe(404);
  });

  test("404 and no sample seller in an installation without a test wallet", async () => {
    const { person } = await createBuyer();
    const { decided } = await authorized(person.credential, await mandateOf(person.credential));
    useWallet(undefined);
    try {
      expect((await sign(person.credential, decided.authorizationId)).status).toBe(404);
      expect((await ask()).status).toBe(404);
    } finally {
      useWallet(key);
    }
  });
});

describe("the sample shop", () => {
  const [stickers, mug] = goods;
  test.each([
    ["above 0.5", { mode: "above", amount: "0.5" }, "1", stickers],
    ["above 10", { mode: "above", amount: "10" }, "50", mug],
    ["always", { mode: "always" }, "1", stickers],
    ["never", undefined, "50", stickers],
  ] as const)("offers the product for which a mandate that asks %s needs an approval", (_, approval, perPayment, sample) => {
    expect(askedSample({ approval, limits: { perPayment } })).toBe(sample);
  });
});
