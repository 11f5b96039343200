import type { Fee, FeeSchedule, Subscription } from "#lib/billing/billing-schema.ts";
import { digitsOf } from "#lib/billing/schedule-facts.ts";
import type { FeeRow, FeeScheduleRow, SubscriptionRow } from "#lib/billing/store.ts";
import { formatAmount } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";
import { FeePayer, FeeScheduleStatus, PlanTier, SettlementMode, SubscriptionStatus } from "#lib/vocabulary.ts";

type Metadata = Record<string, unknown>;

/** For a member, without the id of the organization on the other side of the schedule; `viewer` is null for the platform. */
export function presentScheduleTo(viewer: string | null, row: FeeScheduleRow): FeeSchedule {
  const own = (id: string | null): string | null => (viewer === null || id === viewer ? id : null);
  const { buyerOrganizationId, sellerOrganizationId } = row;
  return presentSchedule({
    ...row,
    buyerOrganizationId: own(buyerOrganizationId),
    sellerOrganizationId: own(sellerOrganizationId),
  });
}

export const presentSchedule = (row: FeeScheduleRow): FeeSchedule => ({
  feeScheduleId: row.feeScheduleId,
  name: row.name,
  status: FeeScheduleStatus.parse(row.status),
  ...(row.buyerOrganizationId !== null && { buyerOrganizationId: row.buyerOrganizationId }),
  ...(row.sellerOrganizationId !== null && { sellerOrganizationId: row.sellerOrganizationId }),
  ...(row.planTier !== null && { planTier: PlanTier.parse(row.planTier) }),
  ...(row.settlementMode !== null && { settlementMode: SettlementMode.parse(row.settlementMode) }),
  ...(row.chain !== null && { chain: row.chain }),
  ...(row.asset !== null && { asset: row.asset }),
  feePayer: FeePayer.parse(row.feePayer),
  feeRecipient: row.feeRecipient,
  percentageBps: row.percentageBps,
  flatAmount: row.flatAmount,
  ...(row.minimumFeeAmount !== null && { minimumFeeAmount: row.minimumFeeAmount }),
  ...(row.maximumFeeAmount !== null && { maximumFeeAmount: row.maximumFeeAmount }),
  includedMonthlyVolume: row.includedMonthlyVolume,
  effectiveFrom: toWire(row.effectiveFrom),
  ...(row.effectiveUntil !== null && { effectiveUntil: toWire(row.effectiveUntil) }),
  ...(row.metadata !== null && { metadata: row.metadata as Metadata }),
  createdAt: toWire(row.createdAt),
  updatedAt: toWire(row.updatedAt),
});

export function feeDecimals(chain: string, asset: string): number {
  const decimals = digitsOf(chain, asset) ?? digitsOf(null, asset);
  if (decimals === null) throw new Error(`The configuration no longer names ${asset}, in which fees are owed.`);
  return decimals;
}

export function presentFee(row: FeeRow): Fee {
  return {
    feeId: row.feeId,
    authorizationId: row.authorizationId,
    side: row.side === "buyer" ? "buyer" : "seller",
    amount: formatAmount(row.amount, feeDecimals(row.chain, row.asset)),
    asset: row.asset,
    kind: "accrual",
    createdAt: toWire(row.createdAt),
  };
}

export const presentSubscription = (row: SubscriptionRow): Subscription => ({
  subscriptionId: row.subscriptionId,
  organizationId: row.organizationId,
  planId: row.planId,
  tier: PlanTier.parse(row.tier),
  status: SubscriptionStatus.parse(row.status),
  currentPeriodStart: toWire(row.currentPeriodStart),
  currentPeriodEnd: toWire(row.currentPeriodEnd),
  billingProvider: "service",
  ...(row.metadata !== null && { metadata: row.metadata as Metadata }),
  createdAt: toWire(row.createdAt),
  updatedAt: toWire(row.updatedAt),
});
