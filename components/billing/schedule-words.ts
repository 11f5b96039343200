import { money } from "#components/ui/money.tsx";
import type { FeeSchedule } from "#lib/billing/billing-schema.ts";

/** Basis points as a percentage: 25 is "0.25 %". */
const percent = (bps: number): string => `${(bps / 100).toFixed(2).replace(/\.?0+$/, "")} %`;

const payers = { buyer: "The buyer pays it", seller: "The seller pays it", split: "Buyer and seller pay half each" } as const;

/** The fee of a schedule in one line: "0.25 % + 0.01 USDC, at most 1.00 USDC". */
export function chargeText(schedule: FeeSchedule): string {
  const { percentageBps, flatAmount, minimumFeeAmount, maximumFeeAmount, asset = "" } = schedule;
  const parts = [percentageBps > 0 && percent(percentageBps), Number(flatAmount) > 0 && money(flatAmount, asset)].filter(
    (part) => part !== false,
  );
  if (parts.length === 0 && minimumFeeAmount === undefined) return "Nothing";
  const bounds = [
    minimumFeeAmount !== undefined && `at least ${money(minimumFeeAmount, asset)}`,
    maximumFeeAmount !== undefined && `at most ${money(maximumFeeAmount, asset)}`,
  ].filter((part) => part !== false);
  return [parts.join(" + "), ...bounds].filter((part) => part !== "").join(", ");
}

export function appliesText(schedule: FeeSchedule): string {
  const { buyerOrganizationId, sellerOrganizationId, planTier, asset, settlementMode } = schedule;
  const who = [
    buyerOrganizationId !== undefined && "payments of one buyer",
    sellerOrganizationId !== undefined && "payments to one seller",
    planTier !== undefined && `buyers with the ${planTier} plan`,
  ].filter((part) => part !== false);
  const how = [asset, settlementMode === "facilitatorSettled" ? "settled by us" : undefined].filter((part) => part !== undefined);
  const text = [who.length > 0 ? who.join(", ") : "every payment", ...how].join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const payerText = ({ feePayer }: FeeSchedule): string => payers[feePayer];
