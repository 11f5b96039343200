import { createHash } from "node:crypto";
import { zeroSchedule, type ScheduleFacts } from "#lib/billing/fees.ts";
import type { FeeScheduleRow } from "#lib/billing/store.ts";
import { canonicalJson } from "#lib/canonical-json.ts";
import { env } from "#lib/env.ts";
import { parseAmount, zero } from "#lib/money.ts";
import { FeePayer } from "#lib/vocabulary.ts";

type Terms = Omit<FeeScheduleRow, "name" | "status" | "metadata" | "createdAt" | "updatedAt">;

/** RFC 8785 form, without absent fields; each fee quote contains the hash, to prove under which terms the quote was made. */
export function scheduleHash(row: Terms): string {
  const terms = {
    feeScheduleId: row.feeScheduleId,
    buyerOrganizationId: row.buyerOrganizationId,
    sellerOrganizationId: row.sellerOrganizationId,
    planTier: row.planTier,
    settlementMode: row.settlementMode,
    chain: row.chain,
    asset: row.asset,
    feePayer: row.feePayer,
    feeRecipient: row.feeRecipient,
    percentageBps: row.percentageBps,
    flatAmount: row.flatAmount,
    minimumFeeAmount: row.minimumFeeAmount,
    maximumFeeAmount: row.maximumFeeAmount,
    includedMonthlyVolume: row.includedMonthlyVolume,
    effectiveFrom: row.effectiveFrom.toISOString(),
    effectiveUntil: row.effectiveUntil?.toISOString() ?? null,
  };
  const present = Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== null));
  return createHash("sha256").update(canonicalJson(present)).digest("hex");
}

/** The built-in schedule as lists show it; the hash in zeroSchedule is the hash of this row. */
export const zeroRow: FeeScheduleRow = {
  feeScheduleId: zeroSchedule.feeScheduleId,
  name: "No service fee",
  status: "active",
  buyerOrganizationId: null,
  sellerOrganizationId: null,
  planTier: null,
  settlementMode: null,
  chain: null,
  asset: null,
  feePayer: zeroSchedule.feePayer,
  feeRecipient: zeroSchedule.feeRecipient,
  percentageBps: zeroSchedule.percentageBps,
  flatAmount: "0",
  minimumFeeAmount: null,
  maximumFeeAmount: null,
  includedMonthlyVolume: 0,
  effectiveFrom: zeroSchedule.effectiveFrom,
  effectiveUntil: null,
  metadata: null,
  createdAt: zeroSchedule.effectiveFrom,
  updatedAt: zeroSchedule.effectiveFrom,
};

/** The decimals of a schedule's asset on its chain or, if the schedule names no chain, on the first chain that has the asset. */
export const digitsOf = (chain: string | null, asset: string): number | null =>
  env()
    .CHAINS.filter((configured) => chain === null || configured.chain === chain)
    .flatMap((configured) => configured.assets)
    .find((configured) => configured.asset === asset)?.tokenDecimals ?? null;

/** Null if the asset is no longer configured; in a schedule without an asset all amounts are zero or null. */
export function toScheduleFacts(row: Terms & { readonly status: string }): ScheduleFacts | null {
  const decimals = row.asset === null ? 0 : digitsOf(row.chain, row.asset);
  if (decimals === null) return null;
  const amount = (text: string | null) => (text === null ? null : parseAmount(text, decimals));
  return {
    feeScheduleId: row.feeScheduleId,
    hash: scheduleHash(row),
    active: row.status === "active",
    buyerOrganizationId: row.buyerOrganizationId,
    sellerOrganizationId: row.sellerOrganizationId,
    planTier: row.planTier,
    settlementMode: row.settlementMode,
    chain: row.chain,
    asset: row.asset,
    feePayer: FeePayer.parse(row.feePayer),
    feeRecipient: row.feeRecipient,
    percentageBps: row.percentageBps,
    flat: amount(row.flatAmount) ?? zero,
    minimum: amount(row.minimumFeeAmount),
    maximum: amount(row.maximumFeeAmount),
    includedMonthlyVolume: row.includedMonthlyVolume,
    effectiveFrom: row.effectiveFrom,
    effectiveUntil: row.effectiveUntil,
  };
}
