import { formatAmount, readAmount, type Atomic } from "#lib/money.ts";
import type { AskedIntent } from "#lib/payment-intent.ts";
import type { Pricing } from "#lib/sellers/resource-schema.ts";
import type { StopOver } from "#lib/sellers/stops.ts";

export type RegisteredSeller = {
  readonly sellerId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly domain: string;
  readonly verified: boolean;
  readonly stopped: boolean;
  /** Whether an emergency stop includes the domain: the stopped seller had "proven" or only "claimed" it; null for no stop. */
  readonly overDomain: StopOver;
  readonly minimumAssuranceLevel: string;
};

export type RegisteredResource = {
  readonly sellerId: string;
  readonly resourceId: string;
  readonly method: string;
  readonly pathTemplate: string;
  readonly description: string | null;
  readonly pricing: Pricing;
  readonly acceptedPaymentChallengeTypes: readonly string[];
  readonly minimumAssuranceLevel: string;
  readonly paymentConfig: {
    readonly chain: string;
    readonly payTo: string;
    readonly settlementMode: "offchainAuthorized" | "facilitatorSettled";
    readonly facilitatorUrl?: string | undefined;
    readonly maxTimeoutSeconds: number;
  };
  /** Whether a stopped seller had "proven" or only "claimed" the address; see PayeeFacts for null. */
  readonly overAddress: StopOver;
};

export type Difference = {
  readonly field: string;
  readonly pointer: string;
  /** The value in the challenge, as text for people. Only compareFixed sets it, with `registered`. */
  readonly theirs?: string;
  readonly registered?: string;
};

const sameText = (asked: string | undefined, registered: string): boolean => asked === undefined || asked === registered;
const sameAddress = (asked: string | undefined, registered: string): boolean =>
  asked === undefined || asked.toLowerCase() === registered.toLowerCase();

function sameAmount(asked: string | undefined, registered: string, decimals: number): boolean {
  if (asked === undefined) return true;
  const amount = readAmount(asked, decimals);
  const price = readAmount(registered, decimals);
  return amount.ok && price.ok && amount.amount === price.amount;
}

function samePrice(asked: Pricing | undefined, registered: Pricing, decimals: number): boolean {
  if (asked === undefined) return true;
  if (asked.type === "fixed") return registered.type === "fixed" && sameAmount(asked.amount, registered.amount, decimals);
  return registered.type === "quoted" && sameText(asked.maxAmount, registered.maxAmount ?? "");
}

function fitsPrice(amount: Atomic, pricing: Pricing, decimals: number): boolean {
  if (pricing.type === "fixed") return sameAmount(formatAmount(amount, decimals), pricing.amount, decimals);
  const limit = pricing.maxAmount === undefined ? null : readAmount(pricing.maxAmount, decimals);
  return limit === null || (limit.ok && amount <= limit.amount);
}

/** The differences between an intent and the seller's registration; names and free-form fields are not compared. */
export function compareIntent(
  intent: AskedIntent,
  chain: string,
  amount: Atomic,
  decimals: number,
  seller: RegisteredSeller,
  resource: RegisteredResource,
): Difference[] {
  const asked = intent.resource;
  const { pricing, paymentConfig } = resource;
  const checks: readonly (readonly [same: boolean, field: string, pointer: string])[] = [
    [sameText(intent.seller.domain, seller.domain), "domain", "/intent/seller/domain"],
    [sameText(asked?.sellerId, seller.sellerId), "sellerId", "/intent/resource/sellerId"],
    [sameText(asked?.method, resource.method), "method", "/intent/resource/method"],
    [sameText(asked?.pathTemplate, resource.pathTemplate), "pathTemplate", "/intent/resource/pathTemplate"],
    [samePrice(asked?.pricing, pricing, decimals), "pricing.amount", "/intent/resource/pricing"],
    [sameText(asked?.pricing?.asset, pricing.asset), "pricing.asset", "/intent/resource/pricing/asset"],
    [
      sameTypes(asked?.acceptedPaymentChallengeTypes, resource.acceptedPaymentChallengeTypes),
      "acceptedPaymentChallengeTypes",
      "/intent/resource/acceptedPaymentChallengeTypes",
    ],
    [fitsPrice(amount, pricing, decimals), "amount", "/intent/amount"],
    [sameText(intent.asset, pricing.asset), "asset", "/intent/asset"],
    [sameText(chain, paymentConfig.chain), "chain", "/intent/chain"],
    [sameAddress(intent.payTo, paymentConfig.payTo), "payTo", "/intent/payTo"],
  ];
  return checks.filter(([same]) => !same).map(([, field, pointer]) => ({ field, pointer }));
}

/** Compares the lists as sets, because the order in the client's list has no meaning. */
function sameTypes(asked: readonly string[] | undefined, registered: readonly string[]): boolean {
  if (asked === undefined) return true;
  const types = new Set(registered);
  return new Set(asked).size === types.size && asked.every((type) => types.has(type));
}
