import { basketHash, canonicalBasket, type Line } from "#lib/approvals/basket.ts";
import type { NewCheckout } from "#lib/approvals/checkout-rows.ts";
import { newId } from "#lib/ids.ts";
import type { Atomic } from "#lib/money.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import type { CheckoutDraft } from "#lib/payments/queue-item.ts";
import { fitsTemplate } from "#lib/sellers/resource-of-payment.ts";
import { readChallenge } from "#lib/x402/compare-challenge.ts";

export type CheckoutRequest = {
  readonly organizationId: string;
  readonly environment: string;
  readonly ownerSubjectId: string;
  readonly mandateId: string;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly domain: string;
  readonly amount: Atomic;
  readonly tokenAddress: string;
  readonly tokenDecimals: number;
  readonly basket: Basket;
  readonly intent: PaymentIntent;
  readonly draft: CheckoutDraft | null;
  readonly expiresAt: Date;
  readonly now: Date;
};

/** What a basket is made of. Without an order, it is one line with the resource. */
type SinglePayment = Pick<CheckoutRequest, "sellerId" | "resourceId" | "domain" | "tokenDecimals"> & {
  readonly intent: Pick<PaymentIntent, "amount" | "asset" | "challenge" | "resource" | "reference">;
};

/** The agent sends the 402 response, so its URL is not trusted; it must only be a valid URL. */
function addressOf({ intent, domain }: SinglePayment): string {
  const url = readChallenge(intent.challenge)?.resource?.url ?? "";
  return URL.canParse(url) ? new URL(url).href : domain;
}

/** The path that was asked for, if it fits the template of the registered resource; null if it is not known. */
function pathOf(asked: SinglePayment, template: string): string | null {
  if (!template.includes("{")) return template;
  const path = URL.parse(addressOf(asked))?.pathname ?? "";
  return fitsTemplate(path, template) ? path : null;
}

/**
 * The name is registered text with, for a template such as /reports/{date}, the path that was asked for; for an unregistered
 * resource, it is a URL or domain that is not trusted (see addressOf).
 */
function resourceLine(asked: SinglePayment): Line {
  const { intent, resourceId } = asked;
  const registered = resourceId === null ? undefined : intent.resource;
  const path = registered?.pathTemplate ? pathOf(asked, registered.pathTemplate) : null;
  const request = path === null ? null : `${registered?.method ?? "GET"} ${path}`;
  const name =
    intent.reference ??
    registered?.description ??
    request ??
    (registered?.pathTemplate ? registered.resourceId : addressOf(asked));
  return { productId: resourceId ?? "payment", name, quantity: 1, unitAmount: intent.amount };
}

export function basketOfPayment(payment: SinglePayment, lines: readonly Line[] = [resourceLine(payment)]) {
  const { sellerId, domain, intent, tokenDecimals } = payment;
  const basket = canonicalBasket(sellerId ?? domain, { asset: intent.asset, tokenDecimals }, lines);
  return { basket, hash: basketHash(basket) };
}
export type Basket = ReturnType<typeof basketOfPayment>;

export function openCheckout(asked: CheckoutRequest): Omit<NewCheckout, "authorizationId"> {
  const { organizationId, environment, ownerSubjectId, mandateId, sellerId, resourceId, domain, intent, draft } = asked;
  const { asset, chain } = intent;
  const { basket, hash } = asked.basket;
  return {
    checkoutIntentId: newId("checkoutIntent"),
    organizationId,
    environment,
    ownerSubjectId,
    sellerId,
    resourceId,
    domain,
    storefrontUrl: draft?.storefrontUrl ?? (intent.paymentChallengeType === "record" ? "" : `https://${domain}`),
    mandateId,
    detectedMandateId: mandateId,
    mandateStatus: "approval_required",
    canonicalBasket: basket,
    basketHash: hash,
    amount: asked.amount,
    asset,
    chain,
    payTo: intent.payTo ?? "",
    tokenAddress: asked.tokenAddress,
    tokenDecimals: asked.tokenDecimals,
    quoteId: draft?.quoteId ?? null,
    quoteExpiresAt: draft?.quoteExpiresAt ?? null,
    challenge: intent.challenge ?? null,
    feeQuote: intent.feeQuote,
    items: draft?.items ?? null,
    storefront: draft?.storefront ?? null,
    metadata: intent.metadata ?? null,
    createsFulfillmentOrder: draft?.createsFulfillmentOrder ?? false,
    status: "awaiting_approval",
    orderId: draft?.orderId ?? null,
    extendedAt: null,
    expiresAt: asked.expiresAt,
    createdAt: asked.now,
    updatedAt: asked.now,
  };
}
