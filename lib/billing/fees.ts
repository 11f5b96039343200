import { add, atomicOf, basisPointsUp, formatAmount, halfDown, max, min, subtract, zero, type Atomic } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";
import type { EnforcementPath, FeePayer, SettlementMode, PaymentChallengeType } from "#lib/vocabulary.ts";

/** A field that is null limits nothing; amounts are in the schedule's own asset. */
export type ScheduleFacts = {
  readonly feeScheduleId: string;
  /** The SHA-256 hash of the terms, which scheduleHash computes. */
  readonly hash: string;
  readonly active: boolean;
  readonly buyerOrganizationId: string | null;
  readonly sellerOrganizationId: string | null;
  readonly planTier: string | null;
  readonly settlementMode: string | null;
  readonly chain: string | null;
  readonly asset: string | null;
  readonly feePayer: FeePayer;
  readonly feeRecipient: string;
  readonly percentageBps: number;
  readonly flat: Atomic;
  readonly minimum: Atomic | null;
  readonly maximum: Atomic | null;
  /** The volume of a month on which no fee is charged, in whole units of the asset. */
  readonly includedMonthlyVolume: number;
  readonly effectiveFrom: Date;
  readonly effectiveUntil: Date | null;
};

/** The facts that decide which schedule applies to a payment; `tier` is the plan tier of the buyer's organization. */
export type FeeFacts = {
  readonly buyerOrganizationId: string;
  readonly sellerOrganizationId: string | null;
  readonly tier: string | null;
  readonly settlementMode: SettlementMode;
  readonly chain: string;
  readonly asset: string;
};

/** Applies to payments that no other schedule matches. */
export const zeroSchedule: ScheduleFacts = {
  feeScheduleId: "fs_default",
  hash: "88a8a2e02b5214175b51c0eaa9c302800ed96852a76b710e235d1b38fbf46582",
  active: true,
  buyerOrganizationId: null,
  sellerOrganizationId: null,
  planTier: null,
  settlementMode: null,
  chain: null,
  asset: null,
  feePayer: "buyer",
  feeRecipient: "service",
  percentageBps: 0,
  flat: zero,
  minimum: null,
  maximum: null,
  includedMonthlyVolume: 0,
  effectiveFrom: new Date(0),
  effectiveUntil: null,
};

const admits = (term: string | null, fact: string | null): boolean => term === null || term === fact;

const matches = (schedule: ScheduleFacts, facts: FeeFacts, now: Date): boolean =>
  schedule.active &&
  schedule.effectiveFrom <= now &&
  (schedule.effectiveUntil === null || now < schedule.effectiveUntil) &&
  admits(schedule.buyerOrganizationId, facts.buyerOrganizationId) &&
  admits(schedule.sellerOrganizationId, facts.sellerOrganizationId) &&
  admits(schedule.planTier, facts.tier) &&
  admits(schedule.settlementMode, facts.settlementMode) &&
  admits(schedule.chain, facts.chain) &&
  admits(schedule.asset, facts.asset);

/** Higher is more specific: buyer and seller, only the buyer, only the seller, neither; if equal, with a plan tier. */
const rank = (schedule: ScheduleFacts): number =>
  (schedule.buyerOrganizationId === null ? 0 : 4) +
  (schedule.sellerOrganizationId === null ? 0 : 2) +
  (schedule.planTier === null ? 0 : 1);

/** Of two matching schedules: the more specific one, then the one in force since a later time, then the one created later. */
function closer(a: ScheduleFacts, b: ScheduleFacts): ScheduleFacts {
  if (rank(a) !== rank(b)) return rank(a) > rank(b) ? a : b;
  const newer = Number(a.effectiveFrom) - Number(b.effectiveFrom);
  if (newer !== 0) return newer > 0 ? a : b;
  return a.feeScheduleId > b.feeScheduleId ? a : b;
}

export const matchSchedule = (schedules: readonly ScheduleFacts[], facts: FeeFacts, now: Date): ScheduleFacts =>
  schedules.filter((schedule) => matches(schedule, facts, now)).reduce(closer, zeroSchedule);

export type Fee = {
  readonly serviceFee: Atomic;
  readonly buyerShare: Atomic;
  readonly sellerShare: Atomic;
  readonly sellerNet: Atomic;
};

/** The part of a payment for which a fee is charged, because it is above the free volume of the month. */
function excess(schedule: ScheduleFacts, gross: Atomic, usedThisMonth: Atomic, decimals: number): Atomic {
  const included = atomicOf(BigInt(schedule.includedMonthlyVolume) * 10n ** BigInt(decimals));
  const left = max(zero, subtract(included, usedThisMonth));
  return max(zero, subtract(gross, left));
}

function wholeFee(schedule: ScheduleFacts, charged: Atomic): Atomic {
  if (charged === zero) return zero;
  const fee = max(add(schedule.flat, basisPointsUp(charged, schedule.percentageBps)), schedule.minimum ?? zero);
  return schedule.maximum === null ? fee : min(fee, schedule.maximum);
}

/** If buyer and seller share an odd fee, the seller pays the extra unit. */
function divide(fee: Atomic, feePayer: FeePayer): { buyer: Atomic; seller: Atomic } {
  if (feePayer === "buyer") return { buyer: fee, seller: zero };
  if (feePayer === "seller") return { buyer: zero, seller: fee };
  const buyer = halfDown(fee);
  return { buyer, seller: subtract(fee, buyer) };
}

/** Rounds the fee up; a seller never owes more than the gross amount, which the chain pays to the seller in full. */
export function computeFee(schedule: ScheduleFacts, gross: Atomic, usedThisMonth: Atomic, decimals: number): Fee {
  const { buyer, seller } = divide(wholeFee(schedule, excess(schedule, gross, usedThisMonth, decimals)), schedule.feePayer);
  const sellerShare = min(seller, gross);
  return { serviceFee: add(buyer, sellerShare), buyerShare: buyer, sellerShare, sellerNet: subtract(gross, sellerShare) };
}

/** What fees depend on; tiers and volumes are those of the buyers' organizations. */
export type FeeBasis = {
  readonly schedules: readonly ScheduleFacts[];
  readonly tiers: ReadonlyMap<string, string>;
  /** The gross amounts that buyers paid in this UTC month, with keys that volumeKey makes. */
  readonly volumes: ReadonlyMap<string, Atomic>;
};

export const volumeKey = (organizationId: string, chain: string, asset: string): string => `${organizationId} ${chain} ${asset}`;

export type FeeOnPayment = {
  readonly schedule: ScheduleFacts;
  readonly facts: FeeFacts;
  readonly fee: Fee;
  readonly gross: Atomic;
  readonly decimals: number;
};

export function feeOn(
  basis: FeeBasis,
  payment: Omit<FeeFacts, "tier">,
  gross: Atomic,
  decimals: number,
  now: Date,
): FeeOnPayment {
  const { buyerOrganizationId, chain, asset } = payment;
  const facts = { ...payment, tier: basis.tiers.get(buyerOrganizationId) ?? null };
  const schedule = matchSchedule(basis.schedules, facts, now);
  const used = basis.volumes.get(volumeKey(buyerOrganizationId, chain, asset)) ?? zero;
  return { schedule, facts, gross, decimals, fee: computeFee(schedule, gross, used, decimals) };
}

export const enforcementPathOf = ({ settlementMode }: Pick<FeeFacts, "settlementMode">): EnforcementPath =>
  settlementMode === "smartAccount" ? "onchain" : "offchain";

type NewFeeQuote = FeeOnPayment & {
  readonly feeQuoteId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Default: what the settlement mode tells. */
  readonly protocol?: PaymentChallengeType;
};

/** The fields are in the order of the API's schema. */
export function presentFeeQuote({ schedule, facts, fee, decimals, ...quoted }: NewFeeQuote) {
  const { protocol = facts.settlementMode === "recorded" ? "record" : "x402" } = quoted;
  return {
    feeQuoteId: quoted.feeQuoteId,
    feeScheduleId: schedule.feeScheduleId,
    buyerOrganizationId: facts.buyerOrganizationId,
    // Buyers see the quote, and the id of another organization is not theirs to know.
    ...(facts.sellerOrganizationId === facts.buyerOrganizationId && { sellerOrganizationId: facts.sellerOrganizationId }),
    settlementMode: facts.settlementMode,
    enforcementPath: enforcementPathOf(facts),
    paymentProtocol: protocol,
    paymentChallengeType: protocol,
    chain: facts.chain,
    asset: facts.asset,
    grossAmount: formatAmount(quoted.gross, decimals),
    sellerNetAmount: formatAmount(fee.sellerNet, decimals),
    serviceFeeAmount: formatAmount(fee.serviceFee, decimals),
    providerFeeAmount: "0",
    networkFeeAmount: "0",
    feePayer: schedule.feePayer,
    feeRecipient: schedule.feeRecipient,
    feeScheduleHash: schedule.hash,
    expiresAt: toWire(quoted.expiresAt),
    createdAt: toWire(quoted.createdAt),
    ...(quoted.metadata !== undefined && { metadata: quoted.metadata }),
  };
}
