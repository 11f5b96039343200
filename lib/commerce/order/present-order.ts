import { env } from "#lib/env.ts";
import type { Offer } from "#lib/commerce/order/offer.ts";
import type { OrderRow } from "#lib/commerce/order/order-store.ts";
import type { PlacedOrder, Quote, Storefront } from "#lib/commerce/order/placed-order-schema.ts";
import { mandatePage } from "#lib/mandates/mandate-links.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import type { Authorization, PaymentIntent } from "#lib/payment-intent.ts";
import { presentAuthorization } from "#lib/payments/present-execution.ts";
import type { OrderStatus } from "#lib/vocabulary.ts";
import { headersOfChallenge } from "#lib/x402/challenge-header.ts";

export type Snapshot = {
  readonly order: OrderRow;
  readonly authorization: AuthorizationRow | null;
  /** Whether the mandate names the address of a wallet. */
  readonly hasWallet: boolean;
  /** With service7702, the service signs the payment itself; with eip3009, the agent's wallet signs. */
  readonly paymentMode: "eip3009" | "service7702";
  /** Set if the payment of this call, signed by the agent or the service, was refused or failed at once; `code` says why. */
  readonly refused: { readonly executionId: string; readonly code: string } | null;
  /** The URL to which the agent sends its next call about the order. */
  readonly url: string;
};

const settings = (mandateId: string): string => mandatePage(env().BASE_URL, mandateId);

/** Agents follow these texts, so they contain no text that an agent, a seller or a storefront wrote. */
const instructions: Readonly<Record<OrderStatus, string>> = {
  paymentCredentialRequired:
    "Sign the challenge in paymentRequired with the paying wallet, and repeat this call with the same idempotencyKey and the signature as paymentCredential.",
  approvalRequired:
    "Show the link in nextAction to the buyer and wait. Then repeat this call with the same idempotencyKey. Repeating it before the buyer has decided changes nothing.",
  setupRequired:
    "The mandate cannot pay yet. Show the link in nextAction to the buyer. Then repeat this call with the same idempotencyKey.",
  quoteChanged:
    "The storefront's offer is no longer what was asked for or approved. Nothing was paid. Place a new order with a new idempotencyKey.",
  denied: "The mandate's policy denied this order. Nothing was paid. Read authorization.policyDecision.reasons.",
  processing:
    "The payment is under way. Repeat this call with the same idempotencyKey and without paymentCredential until the status changes. Do not pay again.",
  completed: "The order is placed and paid. The storefront's order id is in storefront.metadata.orderId.",
  failed: "The order failed. Read the payment and its executions before anything is paid again.",
};

const serviceSigns =
  "The service signs this payment itself. Do not sign it. Repeat this call with the same idempotencyKey and without paymentCredential.";

const failed = "This payment failed. The cause is in intent.metadata.failureCode.";

const payAgain = `${failed} Repeat this call with the same idempotencyKey and without paymentCredential after the cause is corrected.`;

const signAgain = `${failed} Sign a new credential for paymentRequired and repeat this call with the same idempotencyKey after the cause is corrected.`;

function instructionsOf(status: OrderStatus, { paymentMode, refused }: Snapshot): string {
  if (refused) return paymentMode === "service7702" ? payAgain : signAgain;
  // The service became able to sign during this call.
  return paymentMode === "service7702" && status === "paymentCredentialRequired" ? serviceSigns : instructions[status];
}

function nextActionOf({ order, hasWallet, paymentMode, refused, url }: Snapshot, status: OrderStatus): PlacedOrder["nextAction"] {
  const setupUrl = settings(order.mandateId);
  const repeat = { type: "pollStatus", url, label: "Ask again" } as const;
  const submit =
    paymentMode === "service7702"
      ? repeat
      : ({ type: "submitPaymentCredential", url, label: "Send the payment credential" } as const);
  switch (status) {
    case "paymentCredentialRequired":
      return hasWallet ? submit : { type: "openBrowser", url: `${setupUrl}/edit`, label: "Choose the wallet that pays" };
    case "approvalRequired": {
      const confirmation = `${env().BASE_URL}/checkout/${order.checkoutIntentId}`;
      return { type: "openBrowser", url: confirmation, label: "Ask the buyer to confirm" };
    }
    case "setupRequired":
      return { type: "openBrowser", url: setupUrl, label: "Make the mandate ready" };
    case "processing":
      return repeat;
    case "failed":
      return refused ? submit : { type: "none", label: "Nothing more can be done with this order" };
    case "quoteChanged":
      return { type: "none", label: "Place a new order" };
    case "denied":
    case "completed":
      return { type: "none", label: "Nothing is left to do" };
  }
}

function scopeOf({ storefront }: Offer, paymentMode: Snapshot["paymentMode"]): PlacedOrder["scope"] {
  const { tokenAddress, tokenName, tokenVersion, tokenDecimals } = storefront.asset;
  const facilitatorAddresses = [...storefront.facilitatorAddresses];
  return {
    paymentMode,
    payTo: storefront.payTo,
    tokenAddress,
    tokenName,
    tokenVersion,
    tokenDecimals,
    facilitatorAddresses,
  };
}

/** Without the seller's instructions, because an agent would follow them as if this service had written them. */
function storefrontOf(offer: Offer, { order: { answer }, paymentMode }: Snapshot): Storefront {
  const { storefront, seller, resourceId } = offer;
  const { domain, name, catalogUrl, quoteUrl, asset } = storefront;
  const { orderId = null, status = null, permalinkUrl = null } = answer ?? {};
  const metadata = {
    source: storefront.source,
    ...(orderId !== null && { orderId }),
    ...(status !== null && { orderStatus: status }),
    ...(permalinkUrl !== null && { permalinkUrl }),
  };
  return {
    name,
    seller: seller ? { ...seller, domain } : { name, domain, verified: false },
    ...(seller && { sellerId: seller.sellerId }),
    ...(resourceId !== null && { resourceId }),
    ...(catalogUrl !== null && { catalogUrl }),
    ...(quoteUrl !== null && { quoteUrl }),
    checkoutUrl: storefront.checkoutUrl,
    supportedPaymentChallengeTypes: [...storefront.challengeTypes],
    chain: asset.chain,
    asset: asset.asset,
    paymentScope: scopeOf(offer, paymentMode),
    metadata,
  };
}

function quoteOf({ quote, seller, resourceId, storefront }: Offer): Quote {
  const { asset } = storefront.asset;
  return {
    quoteId: quote.quoteId,
    ...(seller && { sellerId: seller.sellerId }),
    ...(resourceId !== null && { resourceId }),
    amount: quote.amount,
    asset,
    items: quote.lines.map((line) => ({ ...line, asset })),
    expiresAt: quote.expiresAt,
  };
}

function intentOf({ order, refused }: Snapshot, { intent: decided }: AuthorizationRow): PaymentIntent {
  const { orderId = null } = order.answer ?? {};
  const metadata = {
    ...decided.metadata,
    ...(orderId !== null && { orderId }),
    ...(order.executionId !== null && { executionId: order.executionId }),
    ...(refused && { executionId: refused.executionId, failureCode: refused.code }),
  };
  return { ...decided, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

/** The stored decision, shown as a denial if the order was denied later. */
function authorizationOf(row: AuthorizationRow, status: OrderStatus): Authorization {
  const authorization = presentAuthorization(row);
  const { policyDecision } = authorization;
  if (status !== "denied" || policyDecision.outcome === "deny") return authorization;
  const { reservationId: _, ...decision } = policyDecision;
  const [first] = policyDecision.reasons;
  const reason = {
    code: "approval_rejected",
    rule: "approval",
    effect: "deny",
    message: "The buyer declined this order, or its approval can no longer be used.",
    policyVersion: first?.policyVersion ?? 1,
  } as const;
  return {
    ...authorization,
    policyDecision: { ...decision, outcome: "deny", denialCode: "approval_rejected", reasons: [reason, ...decision.reasons] },
  };
}

export function presentOrder(rendered: Snapshot): PlacedOrder {
  const { order, authorization, paymentMode, refused } = rendered;
  const offer = order.offer as Offer | null;
  if (!offer) throw new Error("An order that was never quoted has nothing to show.");
  const status = refused ? "failed" : (order.status as OrderStatus);
  const asks = paymentMode === "eip3009" && (status === "paymentCredentialRequired" || refused !== null);
  const [accepted] = offer.challenge.accepts;
  return {
    setupUrl: settings(order.mandateId),
    nextAction: nextActionOf(rendered, status),
    scope: scopeOf(offer, paymentMode),
    status,
    storefront: storefrontOf(offer, rendered),
    quote: quoteOf(offer),
    ...(authorization && { intent: intentOf(rendered, authorization), authorization: authorizationOf(authorization, status) }),
    ...(asks && accepted && { paymentRequired: headersOfChallenge(offer.challenge, accepted) }),
    agentInstructions: instructionsOf(status, rendered),
  };
}
