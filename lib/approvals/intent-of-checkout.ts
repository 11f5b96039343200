import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { formatAmount } from "#lib/money.ts";
import type { NamedIntent, PaymentIntent } from "#lib/payment-intent.ts";

type CheckoutPayment = Pick<
  CheckoutRow,
  | "checkoutIntentId"
  | "sellerId"
  | "resourceId"
  | "domain"
  | "amount"
  | "tokenDecimals"
  | "asset"
  | "chain"
  | "payTo"
  | "challenge"
  | "metadata"
>;

/** The intentId and the nonce are the checkout's id, so that a mandate authorizes a checkout at most once. */
export function intentOfCheckout(row: CheckoutPayment, expiresAt: Date): NamedIntent {
  const { checkoutIntentId, sellerId, resourceId, domain, challenge, metadata } = row;
  return {
    intentId: checkoutIntentId,
    nonce: checkoutIntentId,
    enforcementPath: "offchain",
    paymentChallengeType: "x402",
    seller: sellerId === null ? { domain } : { sellerId, domain },
    ...(sellerId !== null && resourceId !== null && { resource: { resourceId, sellerId } }),
    amount: formatAmount(row.amount, row.tokenDecimals),
    asset: row.asset,
    chain: row.chain,
    payTo: row.payTo,
    ...(challenge && { challenge }),
    ...(metadata && { metadata }),
    expiresAt: expiresAt.toISOString(),
  };
}

/** Turns the stored intent of an authorization back into a request, so that the policy can decide the payment again. */
export function intentToRepeat(intent: PaymentIntent): NamedIntent {
  const { seller, resource, challenge, metadata, reference } = intent;
  return {
    intentId: intent.intentId,
    nonce: intent.nonce,
    enforcementPath: intent.enforcementPath,
    paymentChallengeType: intent.paymentChallengeType,
    seller: {
      ...(seller.sellerId !== undefined && { sellerId: seller.sellerId }),
      ...(seller.domain !== undefined && { domain: seller.domain }),
      ...(reference !== undefined && seller.name !== undefined && { name: seller.name }),
    },
    ...(resource && {
      resource: {
        resourceId: resource.resourceId,
        ...(resource.sellerId !== undefined && { sellerId: resource.sellerId }),
        ...(resource.method !== undefined && { method: resource.method }),
        ...(resource.pathTemplate !== undefined && { pathTemplate: resource.pathTemplate }),
      },
    }),
    amount: intent.amount,
    asset: intent.asset,
    chain: intent.chain,
    ...(intent.payTo !== undefined && { payTo: intent.payTo }),
    ...(intent.payee && { payee: intent.payee }),
    ...(reference !== undefined && { reference }),
    ...(challenge && { challenge }),
    ...(metadata && { metadata }),
    expiresAt: intent.expiresAt,
  };
}
