import type { IntentFacts } from "#lib/mandates/policy/facts.ts";
import { add, type Atomic } from "#lib/money.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import type { WantedOffer } from "#lib/sellers/seen-offer-store.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

export type PastPayment = {
  readonly subjectId: string;
  readonly intent: PaymentIntent;
  readonly amount: Atomic;
  readonly buyerShare: Atomic;
  readonly sellerShare: Atomic;
  readonly chain: string;
  readonly asset: string;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly payTo: string | null;
};

/** Facts about the payee that are not stored with the decision. */
type Now = { readonly verified: boolean; readonly domainSeen: boolean; readonly paidBefore: boolean };

type DecimalsOf = (chain: string, asset: string) => number | null;

/** Differences from the seller's record and repeated ids are not stored, so the result has none. */
export function pastFacts(one: PastPayment, { verified, domainSeen, paidBefore }: Now, decimalsOf: DecimalsOf): IntentFacts {
  const { seller, resource, ...intent } = one.intent;
  return {
    agent: { subjectId: one.subjectId, type: one.subjectId.startsWith("sa_") ? "serviceAccount" : "user", active: true },
    seller:
      one.sellerId === null
        ? null
        : {
            sellerId: one.sellerId,
            domain: seller.domain ?? "",
            verified,
            minimumAssuranceLevel: seller.minimumAssuranceLevel as AssuranceLevel | undefined,
          },
    unregistered: one.sellerId === null && seller.sellerId === undefined ? unregisteredOf(one) : null,
    resource:
      one.resourceId === null || one.sellerId === null
        ? null
        : {
            sellerId: one.sellerId,
            resourceId: one.resourceId,
            method: resource?.method ?? "",
            pathTemplate: resource?.pathTemplate ?? "",
            acceptedPaymentChallengeTypes: resource?.acceptedPaymentChallengeTypes ?? [],
          },
    mismatches: [],
    amount: one.amount,
    fee: { serviceFee: add(one.buyerShare, one.sellerShare), buyerShare: one.buyerShare },
    asset: intent.asset,
    chain: intent.chain,
    decimals: decimalsOf(one.chain, one.asset),
    payTo: one.payTo ?? intent.payTo ?? null,
    domainSeen,
    paymentChallengeType: intent.paymentChallengeType,
    // An account is not stored, so no list of the policy names it here.
    ...(intent.paymentChallengeType === "record" && {
      record: { payee: seller.sellerId ?? null, reference: intent.reference ?? "", before: null },
    }),
    ...(intent.card && { card: { ...intent.card, country: intent.card.country ?? null } }),
    expiresAt: new Date(intent.expiresAt),
    assuranceLevel: "softwareApproved",
    sellerPaidBefore: paidBefore,
    duplicateIntentId: false,
    duplicateNonce: false,
  };
}

/** `payTo` is stored only if the agent sent a 402 response with a usable offer, so null means that no such response was sent. */
function unregisteredOf({ intent, payTo }: PastPayment): IntentFacts["unregistered"] {
  const lack = { detail: "This payment was asked for without the seller's challenge.", pointer: "/intent/challenge" };
  return { domain: intent.seller.domain ?? null, lacks: payTo === null ? [lack] : [] };
}

/** What the 402 response of an unverified domain must offer. Null without a domain, a payee or a configured token. */
export function wantedOf(
  { intent, payTo, chain, asset, amount }: PastPayment,
  tokenOf: (chain: string, asset: string) => string | null,
): WantedOffer | null {
  const { domain } = intent.seller;
  const tokenAddress = tokenOf(chain, asset);
  if (domain === undefined || payTo === null || tokenAddress === null) return null;
  const quoted = intent.resource?.pricing?.type === "quoted" && intent.seller.sellerId !== undefined;
  return { domain, payTo: payTo.toLowerCase(), chain, tokenAddress, amount: quoted ? null : amount };
}
