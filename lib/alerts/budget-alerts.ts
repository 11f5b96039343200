import type { AlertFacts, FoundAlert } from "#lib/alerts/facts.ts";
import { bucketCounts, windowAt, windowsOf, type Window } from "#lib/mandates/policy/windows.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { add, displayAmount, parseAmount, zero, type Atomic } from "#lib/money.ts";

export const DEFAULT_THRESHOLDS: readonly number[] = [80, 100];

export type BudgetFacts = {
  readonly organizationId: string;
  readonly mandateId: string;
  readonly name: string;
  readonly asset: string;
  readonly decimals: number;
  readonly policy: Policy;
  readonly used: Atomic;
  readonly buckets: readonly { readonly windowKey: string; readonly liveUntil: Date; readonly used: Atomic }[];
  readonly thresholds: readonly number[];
};

type Budget = { readonly window: string; readonly span: string; readonly used: Atomic; readonly limit: Atomic };

const spans = { day: "today", week: "this week", month: "this month" } as const;

/** Names the current time span, in which a threshold causes at most one alert; rolling spans are counted from 1970. */
function idOf(window: Window, now: Date): string {
  const start =
    window.kind === "calendar" ? windowAt(window, now).start.getTime() : now.getTime() - (now.getTime() % window.spanMs);
  return `${window.key} ${new Date(start).toISOString()}`;
}

const spanOf = (window: Window): string =>
  window.kind === "calendar"
    ? ((spans as Readonly<Record<string, string>>)[window.period] ?? `this ${window.period}`)
    : `in the last ${window.spanMs / 3_600_000} hours`;

/** `used` includes reserved amounts, as in the check of a payment. */
function budgetsOf({ policy, decimals, used, buckets }: BudgetFacts, now: Date): Budget[] {
  const { total } = policy.limits;
  const windows = windowsOf(policy, decimals).flatMap((window) => {
    if (window.limit === undefined) return [];
    const live = buckets.filter((bucket) => bucket.windowKey === window.key && bucketCounts(bucket, now));
    const sum = live.reduce((all, bucket) => add(all, bucket.used), zero);
    return [{ window: idOf(window, now), span: spanOf(window), used: sum, limit: window.limit }];
  });
  return total === undefined
    ? windows
    : [...windows, { window: "total", span: "in total", used, limit: parseAmount(total, decimals) }];
}

/** Only the highest reached threshold is sent; the lower ones are stored as `dropped`, so that no later run sends them. */
export function budgetAlerts(mandate: BudgetFacts, now: Date): FoundAlert[] {
  const { organizationId, mandateId, name, asset, decimals, thresholds } = mandate;
  return budgetsOf(mandate, now).flatMap(({ window, span, used, limit }) => {
    const reached = limit > 0n ? thresholds.filter((threshold) => used * 100n >= limit * BigInt(threshold)) : [];
    const [usedText, limitText] = [used, limit].map((amount) => displayAmount(amount, decimals, asset));
    const facts: AlertFacts = { kind: "budget", mandateId, name, span, used: usedText ?? "", limit: limitText ?? "" };
    const alert = { organizationId, subjectId: mandateId, window, facts, dueAt: now };
    return reached.map((threshold) => ({
      ...alert,
      threshold,
      status: threshold === Math.max(...reached) ? ("waiting" as const) : ("dropped" as const),
    }));
  });
}
