import { setTimeout as pause } from "node:timers/promises";
import type { FacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, SettleResponse } from "@x402/core/types";
import { eq } from "drizzle-orm";
import type { PrivateKeyAccount } from "viem/accounts";
import { continueCheckout } from "#lib/commerce/continue-checkout.ts";
import * as contract from "#lib/commerce/order-contract.ts";
import { placeOrder } from "#lib/commerce/place-order.ts";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { items, type CheckoutScene } from "#test/checkouts.ts";
import type { HostileStorefront } from "#test/hostile-storefront.ts";
import { signedFor } from "#test/payments.ts";
import { send, type Credential } from "#test/tenant.ts";

let count = 0;
export const newOrderKey = (): string => `order-${++count}-${Date.now()}`;

/** Calls placeOrder once as the scene's agent. */
export const place = (
  { agent, mandateId }: { readonly agent: { readonly credential: Credential }; readonly mandateId: string },
  shop: Pick<HostileStorefront, "url">,
  idempotencyKey: string,
  body: Record<string, unknown> = {},
) =>
  send(contract.placeOrder, placeOrder, {
    as: agent.credential,
    body: { storefrontUrl: shop.url, mandateId, items, idempotencyKey, ...body },
  });
export type OrderReply = Awaited<ReturnType<typeof place>>;

export const goOn = (
  { agent }: Pick<CheckoutScene, "agent">,
  checkoutIntentId: string,
  continuationToken: string,
  idempotencyKey: string,
  body: Record<string, unknown> = {},
) =>
  send(contract.continueCheckout, continueCheckout, {
    as: agent.credential,
    id: checkoutIntentId,
    body: { continuationToken, idempotencyKey, ...body },
  });

/** Repeats the call, as an agent does, while the payment is processing or another call works on the order. */
export async function untilOver<
  T extends Pick<OrderReply, "status" | "problem"> & { readonly data: { readonly status: string } },
>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    const placed = await call();
    if (placed.status === 200 && placed.data.status !== "processing") return placed;
    if (placed.status !== 200 && placed.problem.code !== "idempotency_in_flight") return placed;
    await pause(200);
  }
}

/** The payment that a standard client signs for the 402 of an order. */
export const signedOrder = (
  wallet: PrivateKeyAccount,
  { data }: { readonly data: Pick<OrderReply["data"], "paymentRequired"> },
) => signedFor(wallet, (name) => data.paymentRequired?.[name]);

/**
 * Makes the shop settle with this facilitator, as servers with the x402 library do. The service repeats a request that took too
 * long, and the shop answers it with the same settlement.
 */
export function settlesThrough(shop: HostileStorefront, facilitator: FacilitatorClient): void {
  const settled = new Map<string, Promise<SettleResponse>>();
  shop.settle = (credential, required) => {
    const payload = JSON.parse(Buffer.from(credential, "base64").toString()) as PaymentPayload;
    const settling = settled.get(credential) ?? facilitator.settle(payload, required.accepts[0]!);
    settled.set(credential, settling);
    // What did not settle is tried again when it is asked for again.
    const forget = () => settled.delete(credential);
    settling.then(({ success }) => success || forget(), forget);
    return settling;
  };
}

/** Makes the quote that is stored with the order expire. */
export async function endQuoteOf(key: string): Promise<void> {
  const [order] = await database().select().from(orders).where(eq(orders.idempotencyKey, key));
  const offer = order?.offer as { quote: { expiresAt: string } };
  const ended = { ...offer, quote: { ...offer.quote, expiresAt: new Date(Date.now() - 1_000).toISOString() } };
  await database().update(orders).set({ offer: ended }).where(eq(orders.idempotencyKey, key));
}
