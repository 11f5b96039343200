import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { BucketUsage } from "#lib/mandates/policy/facts.ts";
import type { RemainingLimit } from "#lib/mandates/mandate-schema.ts";
import { remainingOf } from "#lib/mandates/policy/rules-limits.ts";
import { bucketCounts, windowAt, type Window } from "#lib/mandates/policy/windows.ts";
import { add, formatAmount, zero, type Atomic } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";

type Sums = { readonly spent: Atomic; readonly reserved: Atomic };

export function presentRemaining(
  policy: CompiledPolicy,
  total: Sums,
  buckets: readonly (BucketUsage & { readonly windowKey: string })[],
  now: Date,
): RemainingLimit[] {
  const { perPayment } = policy;
  return [
    amountLimit(policy, "/limits/perPayment", perPayment, zero),
    ...(policy.total === null ? [] : [amountLimit(policy, "/limits/total", policy.total, add(total.spent, total.reserved))]),
    ...policy.windows.flatMap((window) => {
      const live = buckets.filter((bucket) => bucket.windowKey === window.key && bucketCounts(bucket, now));
      return windowLimits(policy, window, live, now);
    }),
  ];
}

function windowLimits(policy: CompiledPolicy, window: Window, live: readonly BucketUsage[], now: Date): RemainingLimit[] {
  const span = { window: window.key, ...resetOf(window, live, now) };
  const { limit, max, limitPointer = "/limits/budgets", maxPointer = "/limits/counts" } = window;
  const used = live.reduce<bigint>((sum, { spent, reserved }) => sum + spent + reserved, 0n) as Atomic;
  const count = live.reduce((sum, { payments }) => sum + payments, 0);
  return [
    ...(limit === undefined ? [] : [{ ...amountLimit(policy, limitPointer, limit, used), ...span }]),
    ...(max === undefined ? [] : [{ ...countLimit(maxPointer, max, count), ...span }]),
  ];
}

/** A rolling window is empty again when its newest bucket no longer counts. */
function resetOf(window: Window, live: readonly BucketUsage[], now: Date): { readonly resetsAt?: string } {
  if (window.kind === "calendar") return { resetsAt: toWire(windowAt(window, now).end) };
  const ends = live.map(({ liveUntil }) => liveUntil.getTime());
  return ends.length === 0 ? {} : { resetsAt: toWire(new Date(Math.max(...ends))) };
}

function amountLimit({ asset, decimals }: CompiledPolicy, pointer: string, limit: Atomic, used: Atomic): RemainingLimit {
  const text = (amount: Atomic) => formatAmount(amount, decimals);
  return { pointer, unit: asset, limit: text(limit), used: text(used), remaining: text(remainingOf(limit, used, zero)) };
}

const countLimit = (pointer: string, limit: number, used: number): RemainingLimit => ({
  pointer,
  unit: "payments",
  limit: String(limit),
  used: String(used),
  remaining: String(Math.max(0, limit - used)),
});
