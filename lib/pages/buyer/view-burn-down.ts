import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { countsIn } from "#lib/mandates/policy/compile-policy.ts";
import type { Mandate, WindowUsage } from "#lib/mandates/mandate-schema.ts";
import { reading } from "#lib/mandates/store.ts";
import { formatAmount, parseAmount } from "#lib/money.ts";
import { burnDown } from "#lib/pages/buyer/spending/burn-down.ts";
import { HOLDS_MAX, selectUse } from "#lib/pages/buyer/spending/insight-store.ts";
import { toWire } from "#lib/time.ts";

export type BurnDown = {
  readonly usage: WindowUsage & { readonly end: string };
  readonly timezone: string;
  /** Decimal text; null for future steps, for steps before the mandate existed, and for those whose payments were not read. */
  readonly steps: readonly { readonly at: string; readonly left: string | null }[];
};

const HOUR_MS = 3_600_000;

/** Of the windows that limit an amount and reset, the one with the smallest part of its limit left. */
function shownWindow({ usage, policy }: Mandate) {
  const { asset } = countsIn(policy);
  const resetting = usage.flatMap((one) => {
    const { start, end, unit, window } = one;
    return start !== undefined && end !== undefined && unit === asset && !window.startsWith("PT") ? [{ ...one, start, end }] : [];
  });
  const part = ({ available, limit }: WindowUsage) => Number(available) / Number(limit);
  return resetting.toSorted((a, b) => part(a) - part(b))[0] ?? null;
}

/** Null if no budget resets. The caller must have checked that the person may see the mandate. */
export async function viewBurnDown(mandate: Mandate): Promise<BurnDown | null> {
  const usage = shownWindow(mandate);
  if (usage === null) return null;
  const decimals = decimalsOf(countsIn(mandate.policy));
  const start = new Date(usage.start);
  return reading(async (tx, now) => {
    const rows = await selectUse(tx, mandate.mandateId, start);
    const isWhole = rows.reduce((sum, { holds }) => sum + holds, 0) < HOLDS_MAX;
    const use = rows.map(({ hour, amount }) => ({ hour, amount: BigInt(amount) }));
    const firstHour = Math.floor((Date.parse(mandate.createdAt) - start.getTime()) / HOUR_MS);
    const knownFrom = Math.max(isWhole ? 0 : (use[0]?.hour ?? 0) + 1, firstHour);
    const left = parseAmount(usage.available, decimals);
    const steps = burnDown(use, left, { start, end: new Date(usage.end), now }, knownFrom);
    return {
      usage,
      timezone: usage.window.split(" ")[1] ?? "UTC",
      steps: steps.map(({ at, left }) => ({ at: toWire(at), left: left === null ? null : formatAmount(left, decimals) })),
    };
  });
}
