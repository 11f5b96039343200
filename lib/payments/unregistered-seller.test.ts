import { x402HTTPClient, x402Client } from "@x402/core/client";
import { encodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { eq } from "drizzle-orm";
import type { Address } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { startSeller } from "../../examples/seller.ts";
import { database } from "#lib/db/client.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { forget } from "#lib/process.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN, policy } from "#test/mandates.ts";
import {
  authorized,
  execute,
  newWallet,
  paymentScene,
  readPayment,
  signedFor,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { stockFacilitator, type ListeningServer } from "#test/shop.ts";

useDatabase();
const chain = useSettlement();
const open: Pick<ListeningServer, "close">[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const admitting = { policy: { ...policy, sellers: { unregistered: "allow" } } };

/** A seller on this machine that uses the standard x402 library and is not registered, and the 402 that it sends. */
async function stranger() {
  const payTo = randomAddress();
  const shop = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
  open.push(shop);
  process.env["OUTBOUND_LOOPBACK"] = new URL(shop.url).host;
  forget("env");
  const url = `${shop.url}/report`;
  const unpaid = await fetch(url);
  const header = (name: string) => unpaid.headers.get(name);
  return { url, payTo, header, challenge: new x402HTTPClient(new x402Client()).getPaymentRequiredResponse(header) };
}
type Stranger = Awaited<ReturnType<typeof stranger>>;

const intentTo = ({ challenge, payTo }: Pick<Stranger, "challenge" | "payTo">, change: Record<string, unknown> = {}) => ({
  seller: {},
  resource: undefined,
  amount: "0.25",
  chain: CHAIN,
  payTo,
  challenge,
  ...change,
});

const decisionOf = async (scene: PaymentScene, intent: Record<string, unknown>) =>
  (await authorized(scene, intent)).policyDecision;

async function settled(scene: PaymentScene, authorizationId: string) {
  const status = async () => (await readPayment(scene, authorizationId)).data.executions[0]?.settlementStatus;
  await expect.poll(async () => (await reconcile(), status()), { interval: 200 }).toBe("settled");
}

describe("a seller that is not registered", () => {
  test("is paid by a standard client with the seller's own challenge, and is stored as domain and payee", async () => {
    const scene = await paymentScene({ mandate: { policy: { ...admitting.policy, approval: { mode: "never" } } } });
    const shop = await stranger();
    const wallet = newWallet();
    await chain().mint(wallet.address, 1_000_000n);
    const { authorizationId, policyDecision } = await authorized(scene, intentTo(shop));
    expect(policyDecision.outcome).toBe("allow");
    // executePayment asks for a signature of the seller's own offer, so that the seller accepts the payment.
    const missing = await execute(scene, { authorizationId });
    const [sign] = missing.problem.nextActions;
    const headers = sign?.metadata?.["paymentRequired"] as Record<string, string>;
    const paymentCredential = await signedFor(wallet, (name) => headers[name]);
    const executed = await execute(scene, { authorizationId, paymentCredential });
    expect(executed.data).toMatchObject({ settlementStatus: "pending", settlementMode: "offchainAuthorized" });
    const paid = await fetch(shop.url, { headers: executed.data.credentialHeaders ?? {} });
    expect(paid.status).toBe(200);
    await settled(scene, authorizationId);
    expect(await chain().balanceOf(shop.payTo)).toBe(250_000n);
    const remembered = await database().select().from(mandateSellers).where(eq(mandateSellers.mandateId, scene.mandateId));
    const { host } = new URL(shop.url);
    expect(remembered.map(({ sellerId }) => sellerId)).toEqual([`${host} ${shop.payTo}`]);
    const { data } = await readPayment(scene, authorizationId);
    expect(data.intent).toMatchObject({ seller: { domain: host, verified: false }, payTo: shop.payTo });
  });

  test("is executed only with the offer that was authorized", async () => {
    const scene = await paymentScene({ mandate: admitting });
    const shop = await stranger();
    const wallet = newWallet();
    await chain().mint(wallet.address, 1_000_000n);
    const { authorizationId } = await authorized(scene, intentTo(shop));
    const signedAs = (required: unknown) => {
      const header = encodePaymentRequiredHeader(required as PaymentRequired);
      return signedFor(wallet, (name) => (name === "PAYMENT-REQUIRED" ? header : null));
    };
    const [accept] = shop.challenge.accepts;
    const others: [unknown, string][] = [
      [{ ...shop.challenge, accepts: [{ ...accept, payTo: randomAddress() }] }, "recipient_mismatch"],
      [{ ...shop.challenge, accepts: [{ ...accept, amount: "249999" }] }, "amount_mismatch"],
      [{ ...shop.challenge, accepts: [{ ...accept, maxTimeoutSeconds: 77 }] }, "credential_malformed"],
      [{ ...shop.challenge, resource: { url: "https://other.example.net/" } }, "credential_malformed"],
    ];
    for (const [other, code] of others) {
      const reply = await execute(scene, { authorizationId, paymentCredential: await signedAs(other) });
      expect([reply.status, reply.problem.code]).toEqual([402, code]);
    }
    const reply = await execute(scene, { authorizationId, paymentCredential: await signedAs(shop.challenge) });
    expect(reply.status).toBe(200);
  });

  test("is denied if the policy does not allow it, with or without a challenge", async () => {
    const scene = await paymentScene();
    const shop = await stranger();
    expect(await decisionOf(scene, intentTo(shop))).toMatchObject({ outcome: "deny", denialCode: "seller_not_allowed" });
    expect((await decisionOf(scene, intentTo(shop, { challenge: undefined }))).denialCode).toBe("seller_not_allowed");
  });

  test("needs chain, payTo and challenge, and each must match the intent", async () => {
    const scene = await paymentScene({ mandate: admitting });
    const shop = await stranger();
    const codeOf = async (change: Record<string, unknown>) => (await decisionOf(scene, intentTo(shop, change))).denialCode;
    for (const name of ["chain", "payTo", "challenge"]) expect(await codeOf({ [name]: undefined })).toBe("intent_invalid");
    expect(await codeOf({ payTo: randomAddress() })).toBe("challenge_mismatch");
    expect(await codeOf({ amount: "0.24" })).toBe("challenge_mismatch");
    expect(await codeOf({ seller: { domain: "shop.example.com" } })).toBe("challenge_mismatch");
    expect(await codeOf({ challenge: { ...shop.challenge, resource: { url: "http://10.0.0.1/report" } } })).toBe(
      "intent_invalid",
    );
  });

  test("is subject to rules on domains, payees, verification and assurance", async () => {
    const shop = await stranger();
    const codeUnder = async (rules: Record<string, unknown>) => {
      const scene = await paymentScene({ mandate: { policy: { ...admitting.policy, ...rules } } });
      return (await decisionOf(scene, intentTo(shop))).denialCode;
    };
    expect(await codeUnder({ domains: { allow: ["example.com"] } })).toBe("domain_not_allowed");
    expect(await codeUnder({ domains: { allow: [new URL(shop.url).host] } })).toBeUndefined();
    expect(await codeUnder({ payTo: { deny: [shop.payTo] } })).toBe("payee_not_allowed");
    expect(await codeUnder({ requireVerifiedSeller: true })).toBe("seller_unverified");
    expect(await codeUnder({ minimumAssuranceLevel: "walletApproved" })).toBe("assurance_too_low");
  });

  test("cannot use the domain of a seller who has verified it: the record and rules of that seller apply", async () => {
    const scene = await paymentScene({ mandate: admitting });
    const { seller } = scene;
    const accepts = [
      {
        scheme: "exact",
        network: CHAIN,
        amount: "250000",
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        payTo: randomAddress(),
        maxTimeoutSeconds: 60,
        extra: { name: "USDC", version: "2" },
      },
    ] as PaymentRequired["accepts"];
    const challenge: PaymentRequired = { x402Version: 2, resource: { url: `https://${seller.domain}/report` }, accepts };
    const posing = intentTo({ challenge, payTo: accepts[0]?.payTo as Address });
    // The registered seller has not verified the domain, so a payee at this domain is still unregistered.
    expect((await decisionOf(scene, posing)).outcome).toBe("allow");
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, seller.sellerId));
    expect((await decisionOf(scene, posing)).denialCode).toBe("resource_not_allowed");
    const { resourceId } = seller;
    expect((await decisionOf(scene, { ...posing, resource: { resourceId } })).denialCode).toBe("challenge_mismatch");
    const { payTo } = seller;
    // The price of the resource is registered and fixed, so the challenge must have the same price.
    expect((await decisionOf(scene, intentTo({ challenge, payTo }, { resource: { resourceId } }))).denialCode).toBe(
      "challenge_mismatch",
    );
    const own = { ...challenge, accepts: [{ ...accepts[0]!, payTo }] };
    const honest = intentTo({ challenge: own, payTo }, { resource: { resourceId } });
    const { authorizationId, policyDecision } = await authorized(scene, honest);
    expect(policyDecision.outcome).toBe("allow");
    expect((await readPayment(scene, authorizationId)).data.intent.seller).toMatchObject({ sellerId: seller.sellerId });
  });

  test("needs an approval for the first payment only", async () => {
    const scene = await paymentScene({ mandate: { policy: { ...admitting.policy, approval: { mode: "firstPayment" } } } });
    const shop = await stranger();
    expect((await decisionOf(scene, intentTo(shop))).outcome).toBe("requireApproval");
    const sellerId = `${new URL(shop.url).host} ${shop.payTo}`;
    await database().insert(mandateSellers).values({ mandateId: scene.mandateId, sellerId, firstPaidAt: new Date() });
    expect((await decisionOf(scene, intentTo(shop))).outcome).toBe("allow");
  });
});
