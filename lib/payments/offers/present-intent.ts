import { formatAmount, type Atomic } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { maskedAccount } from "#lib/payments/batch/made-elsewhere.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import type { OfferJudgement } from "#lib/payments/unregistered-offer.ts";
import { toWire } from "#lib/time.ts";
import type { SettlementMode } from "#lib/vocabulary.ts";

export type Terms = {
  readonly chain: string;
  readonly asset: AssetOnChain;
  readonly digits: number;
  readonly amount: Atomic;
  readonly expiresAt: Date;
};

type IntentDecision = {
  readonly item: Item;
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly offered: OfferJudgement | null;
  readonly terms: Terms;
  readonly feeQuote: PaymentIntent["feeQuote"];
  readonly createdAt: Date;
};

export const settlementModeOf = (
  { enforcementPath, paymentChallengeType }: Pick<Item["intent"], "enforcementPath" | "paymentChallengeType">,
  resource: RegisteredResource | null,
): SettlementMode =>
  paymentChallengeType !== "x402"
    ? "recorded"
    : enforcementPath === "onchain"
      ? "smartAccount"
      : (resource?.paymentConfig.settlementMode ?? "offchainAuthorized");

/** The intent to store and show: the registered seller, resource and payee if they exist, otherwise those of the request. */
export function presentIntent({ item, seller, resource, offered, terms, feeQuote, createdAt }: IntentDecision): PaymentIntent {
  const { intent } = item;
  const payTo = resource?.paymentConfig.payTo ?? intent.payTo;
  return {
    intentId: intent.intentId,
    enforcementPath: intent.enforcementPath,
    paymentProtocol: intent.paymentChallengeType,
    paymentChallengeType: intent.paymentChallengeType,
    settlementMode: settlementModeOf(intent, resource),
    seller: seller
      ? {
          sellerId: seller.sellerId,
          name: seller.name,
          domain: seller.domain,
          verified: seller.verified,
          minimumAssuranceLevel: seller.minimumAssuranceLevel,
        }
      : presentUnknown(intent, offered),
    ...resourceInIntent(intent, resource),
    amount: formatAmount(terms.amount, terms.digits),
    asset: intent.asset,
    chain: terms.chain,
    ...(payTo !== undefined && { payTo }),
    ...(intent.payee && { payee: maskedAccount(intent.payee) }),
    ...(intent.reference !== undefined && { reference: intent.reference }),
    ...(intent.card && { card: intent.card }),
    feeQuote,
    ...(intent.challenge && { challenge: intent.challenge }),
    ...(intent.metadata && { metadata: intent.metadata }),
    expiresAt: toWire(terms.expiresAt),
    nonce: intent.nonce,
    idempotencyKey: item.idempotencyKey,
    createdAt: toWire(createdAt),
  };
}

/** If the challenge has a domain, only the domain is shown, because a name would be unverified text of the agent. */
const presentUnknown = ({ seller }: Item["intent"], offered: OfferJudgement | null): PaymentIntent["seller"] =>
  offered && offered.facts.domain !== null ? { domain: offered.facts.domain, verified: false } : seller;

export function resourceInIntent(intent: Item["intent"], resource: RegisteredResource | null): Pick<PaymentIntent, "resource"> {
  if (!resource) return intent.resource ? { resource: intent.resource } : {};
  const {
    paymentConfig: _,
    overAddress: ___,
    description,
    minimumAssuranceLevel: __,
    acceptedPaymentChallengeTypes,
    ...rest
  } = resource;
  return {
    resource: {
      ...rest,
      ...(description !== null && { description }),
      acceptedPaymentChallengeTypes: [...acceptedPaymentChallengeTypes],
    },
  };
}
