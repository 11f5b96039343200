import type { SettleResponse } from "@x402/core/types";
import { setTimeout as pause } from "node:timers/promises";
import type { Installation } from "./installation.ts";
import type { Headers } from "./wire.ts";
import { checkoutScene, type CheckoutScene } from "#test/checkouts.ts";
import { newKey, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { activeMandate, assets, CHAIN, createBuyer, type Buyer } from "#test/mandates.ts";
import { settlesThrough } from "#test/orders.ts";
import { newWallet, paymentScene, type PaymentScene } from "#test/payments.ts";
import { raiseStepUp } from "#test/proofs.ts";
import { stockFacilitator } from "#test/shop.ts";
import { create } from "#test/webhooks.ts";

/** The number of mandates whose payments are only authorized. Under as many others, payments are authorized and executed. */
const MANDATES = 8;

/** Under a tight mandate, 20 payments of 0.01 USDC are allowed: by the total, by the day's budget, and by the hour's count. */
export const TIGHT = 20;
const hundredths = (payments: number): string => `0.${String(payments).padStart(2, "0")}`;
export const tightPolicy = (payments = TIGHT) => ({
  assets,
  limits: {
    perPayment: "0.01",
    total: hundredths(payments),
    budgets: [{ period: "day", timezone: "Asia/Kolkata", amount: hundredths(payments) }],
    counts: [{ rolling: "PT1H", max: TIGHT }],
  },
});

/** A mandate with the number of its answers, and when a revocation or suspension of it was acknowledged. */
export type Tight = { readonly mandateId: string; allowed: number; refused: number; closedAt: number };

export const newTight = (mandateId: string): Tight => ({ mandateId, allowed: 0, refused: 0, closedAt: Infinity });

export type Scene = {
  readonly buyer: Buyer;
  readonly wide: readonly string[];
  readonly scene: PaymentScene;
  readonly paying: readonly string[];
  readonly tight: Tight[];
  /** A person with a password who owns the mandates that ask, the keys that are rotated, and the webhooks. */
  readonly owner: Owner;
  readonly asking: string;
  readonly rotated: { readonly agent: Agent; key: string | null };
  readonly orders: CheckoutScene & { readonly storefrontUrl: string };
  readonly wallet: ReturnType<typeof newWallet>;
  readonly hook: { readonly path: string; readonly organizationId: string };
};

export const keyOf = (apiKey: string): Headers => ({ authorization: `Bearer ${apiKey}` });

/** The shop settles each payment once the chain answers; a payment that was sent already does not settle twice. */
async function settles(on: Installation): Promise<void> {
  const facilitator = await stockFacilitator(on.chain());
  settlesThrough(on.shop, facilitator);
  const settle = on.shop.settle!;
  on.shop.settle = async (...payment): Promise<SettleResponse> => {
    for (let times = 0; times < 10; times += 1, await pause(500)) {
      const settled = await settle(...payment).catch(() => null);
      if (settled?.success) return settled;
    }
    return { success: false, errorReason: "unexpected_settle_error", transaction: "", network: CHAIN };
  };
}

export async function setScene(on: Installation): Promise<Scene> {
  const buyer = await createBuyer({ price: "0.01" });
  const policy = { assets, limits: { perPayment: "1", total: "10000000" } };
  const scene = await paymentScene({ settlementMode: "facilitatorSettled", price: "0.01", mandate: { policy } });
  // One after another: all at once are too many for a slow machine.
  const mandatesOf = async ({ person }: Pick<Buyer, "person">): Promise<string[]> => {
    const made: string[] = [];
    while (made.length < MANDATES) made.push(await activeMandate(person.credential, { policy }));
    return made;
  };
  const orders = { assets, limits: { perPayment: "100", total: "1000000" }, sellers: { unregistered: "allow" } };
  const owner = await newOrganization();
  for (const { organizationId } of [buyer, scene, owner]) await raiseStepUp(organizationId);
  const asking = await activeMandate(owner.credential, { policy: { ...policy, approval: { mode: "always" } } });
  const agent = await newKey(owner, ["audit:read"]);
  const path = on.receiver.newPath();
  const hooked = await create(owner, { url: on.receiver.url(path), eventTypes: ["checkout.*", "serviceAccount.*"] });
  if (hooked.status !== 201) throw new Error(hooked.problem.detail);
  const wallet = newWallet();
  await on.chain().mint(wallet.address, 10n ** 15n);
  await settles(on);
  return {
    buyer,
    wide: await mandatesOf(buyer),
    scene,
    paying: await mandatesOf(scene),
    tight: (await Promise.all([1, 2, 3].map(() => activeMandate(buyer.person.credential, { policy: tightPolicy() })))).map(
      newTight,
    ),
    owner,
    asking,
    rotated: { agent, key: agent.apiKey },
    orders: { ...(await checkoutScene({ mandate: { policy: orders } })), storefrontUrl: on.shop.url },
    wallet,
    hook: { path, organizationId: owner.organizationId },
  };
}
