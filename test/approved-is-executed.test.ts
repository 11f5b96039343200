import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { atomicOf } from "#lib/money.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { executions } from "#lib/holds/tables.ts";
import {
  ageRequests,
  approve,
  cancel,
  checkoutScene,
  open,
  preview,
  read,
  reviewed,
  view,
  type CheckoutScene,
} from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate } from "#test/mandates.ts";
import { endQuoteOf, goOn, newOrderKey, place, settlesThrough, signedOrder } from "#test/orders.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";

/* Only the approved terms are executed. A change of any term after the preview or the approval is refused, and no
   money moves. */

useDatabase();
const chain = useSettlement();
const wallet = newWallet();

let shop: HostileStorefront;
let scene: CheckoutScene;
let otherMandateId: string;
beforeAll(async () => {
  await chain().mint(wallet.address, 1_000_000_000n);
  shop = await openHostileStorefront();
  settlesThrough(shop, await stockFacilitator(chain()));
  scene = await checkoutScene();
  // Store the seller as paid before, so that approving needs no password: passwords can be checked only a few times per minute.
  const sellerId = `${shop.domain} ${shop.payTo}`;
  await database().insert(mandateSellers).values({ mandateId: scene.mandateId, sellerId, firstPaidAt: new Date() });
  otherMandateId = await activeMandate(scene.person.credential, {
    policy: { ...open, limits: { perPayment: "200", total: "10000" } },
  });
});
afterAll(() => shop.close());

const hex = (length: number) =>
  fc.bigInt({ min: 1n, max: 16n ** BigInt(length) - 1n }).map((value) => value.toString(16).padStart(length, "0"));

type Change = { readonly name: string; readonly set: Partial<typeof checkoutIntents.$inferInsert> };

/** A change of one term of a checkout. */
const changes: fc.Arbitrary<Change> = fc.oneof(
  hex(64).map((basketHash) => ({ name: "basketHash", set: { basketHash } })),
  fc
    .bigInt({ min: 1n, max: 99_000_000n })
    .filter((amount) => amount !== 25_000_000n)
    .map((amount) => ({ name: "amount", set: { amount: atomicOf(amount) } })),
  hex(40).map((payTo) => ({ name: "payTo", set: { payTo: `0x${payTo}` } })),
  fc.constantFrom("EURC", "USDT").map((asset) => ({ name: "asset", set: { asset } })),
  fc.constantFrom("eip155:1", "eip155:8453").map((name) => ({ name: "chain", set: { chain: name } })),
  fc.constant(null).map(() => ({ name: "mandate", set: { mandateId: otherMandateId } })),
);

const tamper = async (checkoutIntentId: string, { set }: Change) => {
  await database().update(checkoutIntents).set(set).where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
};

/** Makes the basket of each run different, so that a preview does not find the open checkout of another run. */
let quantity = 0;
async function previewedAnew() {
  quantity += 1;
  // All runs use the same agent. Its requests for approval are moved into the past, or it would reach the hourly limit for
  // them.
  if (quantity % 20 === 0) await ageRequests(scene.agent.serviceAccountId, 61);
  const basket = [{ productId: "tee", variantId: "tee-m", quantity: 2, metadata: { quantity } }];
  const { data, status, problem } = await preview(shop, scene.agent.credential, { items: basket, mandateId: scene.mandateId });
  if (status !== 201) throw new Error(JSON.stringify(problem));
  return data.intent.checkoutIntentId;
}

const executed = async () =>
  (await database().select().from(executions)).filter(({ settlementStatus }) => settlementStatus !== "failed").length;

/** Checks that no payment is submitted and no money moves during the work. */
async function unmoved(work: () => Promise<void>): Promise<void> {
  const before = [await chain().balanceOf(wallet.address), await executed(), shop.credentials.length];
  await work();
  expect([await chain().balanceOf(wallet.address), await executed(), shop.credentials.length]).toEqual(before);
  expect(await brokenSums()).toEqual([]);
}

/** Cancels the checkout, so that it does not affect the next run. */
const close = async (checkoutIntentId: string) => {
  await cancel(checkoutIntentId, scene.agent.credential);
};

describe("only what was approved is executed", () => {
  test("a checkout that changed after it was shown cannot be approved", async () => {
    const property = fc.asyncProperty(
      changes.filter(({ name }) => name !== "mandate"),
      async (change) => {
        await unmoved(async () => {
          const checkoutIntentId = await previewedAnew();
          await view(checkoutIntentId, scene.person.credential);
          await tamper(checkoutIntentId, change);
          const reply = await approve(checkoutIntentId, scene.person.credential, { mandateId: scene.mandateId });
          expect([409, 400, 422]).toContain(reply.status);
          await close(checkoutIntentId);
        });
      },
    );
    await fc.assert(property, { numRuns: 15 });
  });

  test("an approval is redeemed only for exactly the approved terms", async () => {
    const property = fc.asyncProperty(changes, async (change) => {
      await unmoved(async () => {
        const checkoutIntentId = await previewedAnew();
        await view(checkoutIntentId, scene.person.credential);
        expect((await approve(checkoutIntentId, scene.person.credential, { mandateId: scene.mandateId })).status).toBe(200);
        const { data } = await read(checkoutIntentId, scene.agent.credential);
        await tamper(checkoutIntentId, change);
        const reply = await goOn(scene, checkoutIntentId, data.continuationToken ?? "", newOrderKey());
        expect([409, 410]).toContain(reply.status);
        await close(checkoutIntentId);
      });
    });
    await fc.assert(property, { numRuns: 20 });
  });

  test("a signed payment pays only exactly the approved terms", async () => {
    const checkoutIntentId = await previewedAnew();
    await view(checkoutIntentId, scene.person.credential);
    await approve(checkoutIntentId, scene.person.credential, { mandateId: scene.mandateId });
    const { data } = await read(checkoutIntentId, scene.agent.credential);
    const key = newOrderKey();
    const redeemed = await goOn(scene, checkoutIntentId, data.continuationToken ?? "", key);
    expect(redeemed.data.status).toBe("paymentCredentialRequired");
    const [header = ""] = Object.values(redeemed.data.paymentRequired ?? {});
    type Required = PaymentRequired & { accepts: [PaymentRequired["accepts"][number]] };
    const required = JSON.parse(Buffer.from(header, "base64").toString()) as Required;
    const fields = fc.oneof(
      hex(40).map((payTo) => ({ payTo: `0x${payTo}` })),
      hex(40).map((asset) => ({ asset: `0x${asset}` })),
      fc
        .bigInt({ min: 1n, max: 10n ** 12n })
        .filter((amount) => amount !== 25_000_000n)
        .map((amount) => ({ amount: String(amount) })),
      fc.constantFrom("eip155:1", "eip155:8453").map((network) => ({ network })),
      fc.constantFrom("USD Coin", "EURC").map((name) => ({ extra: { name, version: "2" } })),
    );
    const property = fc.asyncProperty(fields, async (field) => {
      await unmoved(async () => {
        const asked = { ...required, accepts: [{ ...required.accepts[0], ...field }] };
        const paymentCredential = await signAnything(asked);
        const reply = await goOn(scene, checkoutIntentId, data.continuationToken ?? "", key, { paymentCredential });
        expect(reply.data).toMatchObject({ status: "failed" });
      });
    });
    await fc.assert(property, { numRuns: 25 });
    const paid = await goOn(scene, checkoutIntentId, data.continuationToken ?? "", key, {
      paymentCredential: await signedOrder(wallet, redeemed),
    });
    expect(paid.data.status).toBe("completed");
  });

  test("an order is not paid if its seller changes the terms after the approval", async () => {
    const asking = await checkoutScene({ mandate: { policy: { ...open, approval: { mode: "always" } } } });
    const faults = ["priceRises", "challengeAmount", "challengePayee", "challengeAsset", "challengeChain"] as const;
    for (const fault of faults) {
      await unmoved(async () => {
        shop.fault = "clean";
        const key = newOrderKey();
        const first = await place(asking, shop, key);
        const checkoutIntentId = first.data.nextAction.url?.split("/").at(-1) ?? "";
        await reviewed(checkoutIntentId, asking.person);
        expect((await approve(checkoutIntentId, asking.person.credential)).status).toBe(200);
        await endQuoteOf(key);
        shop.fault = fault;
        expect([fault, (await place(asking, shop, key)).data.status]).toEqual([fault, "quoteChanged"]);
      });
    }
    shop.fault = "clean";
  });
});

/** Signs a 402 for any EVM chain, token and amount: the limits of the standard client are switched off. */
async function signAnything(required: PaymentRequired): Promise<string> {
  const client = new x402Client().setSpendControls(false).register("eip155:*", new ExactEvmScheme(wallet));
  const signing = new x402HTTPClient(client);
  const payload = await signing.createPaymentPayload(required);
  return signing.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"] ?? "";
}
