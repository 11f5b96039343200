import { countedAs } from "#lib/mandates/policy/compile-policy.ts";
import { calendarPeriodAt, localTimeAt } from "#lib/mandates/policy/calendar.ts";
import type { BucketUsage } from "#lib/mandates/policy/facts.ts";
import { addReason, text, type Case } from "#lib/mandates/policy/rules/reason.ts";
import * as say from "#lib/mandates/policy/sentences-limits.ts";
import type { SpanValues } from "#lib/mandates/policy/sentences-limits.ts";
import { bucketCounts, windowAt, type Window } from "#lib/mandates/policy/windows.ts";
import { basisPointsUp, max, subtract, zero, type Atomic } from "#lib/money.ts";
import { ageOf, toWire } from "#lib/time.ts";

export function limitRules(on: Case): void {
  schedule(on);
  // Nothing is known about the amount of a payment in an asset without a rate, which another rule denies.
  if (on.isCounted) amountRules(on);
  cooldown(on);
  if (on.isCounted) maximumFee(on);
}

function amountRules(on: Case): void {
  perPayment(on);
  total(on);
  for (const window of on.policy.windows) windowRules(on, window);
}

function schedule(on: Case): void {
  const rule = on.policy.schedule;
  if (rule === null) return;
  const { weekday, minuteOfDay } = localTimeAt(rule.timezone, on.now);
  const isOpen = rule.days.has(weekday) && minuteOfDay >= rule.from && minuteOfDay < rule.to;
  addReason(on, isOpen ? say.open : say.closed, rule.text);
}

export function perPayment(on: Case): void {
  const limit = on.policy.perPayment;
  addReason(on, on.requested <= limit ? say.withinPerPayment : say.abovePerPayment, text(on, limit));
}

export const remainingOf = (limit: Atomic, spent: Atomic, reserved: Atomic): Atomic =>
  max(zero, subtract(subtract(limit, spent), reserved));

function total(on: Case): void {
  const { policy, usage, requested } = on;
  const limit = policy.total;
  if (limit === null) return;
  const remaining = remainingOf(limit, usage.spent, usage.reserved);
  const amounts = amountsOf(on, limit, (usage.spent + usage.reserved) as Atomic, remaining, "/limits/total");
  if (remaining === 0n) addReason(on, say.usedUp, ...amounts);
  addReason(on, requested <= remaining ? say.withinTotal : say.aboveTotal, ...amounts);
}

type Sums = { readonly used: Atomic; readonly payments: number };

function sumsOf(buckets: readonly BucketUsage[] | undefined, now: Date): Sums {
  let used = 0n;
  let payments = 0;
  for (const bucket of buckets ?? []) {
    if (!bucketCounts(bucket, now)) continue;
    used += bucket.spent + bucket.reserved;
    payments += bucket.payments;
  }
  return { used: used as Atomic, payments };
}

function windowRules(on: Case, window: Window): void {
  const sums = sumsOf(on.usage.buckets.get(window.key), on.now);
  const span = spanOf(window, on.now);
  if (window.limit !== undefined) budget(on, window, window.limit, sums.used, span);
  if (window.max !== undefined) count(on, window, window.max, sums.payments, span);
}

function spanOf(window: Window, now: Date): SpanValues {
  if (window.kind === "calendar") {
    const { startText, endText } = calendarPeriodAt(window.period, window.timezone, now);
    return [window.period, startText, endText, window.timezone];
  }
  const { start, end } = windowAt(window, now);
  return [window.spanMs / 60_000, toWire(start), toWire(end), null];
}

function budget(on: Case, window: Window, limit: Atomic, used: Atomic, span: SpanValues): void {
  const remaining = remainingOf(limit, used, zero);
  const amounts = amountsOf(on, limit, used, remaining, window.limitPointer ?? "/limits/budgets");
  addReason(on, on.requested <= remaining ? say.withinBudget : say.aboveBudget, ...amounts, ...span);
}

const amountsOf = (on: Case, limit: Atomic, used: Atomic, remaining: Atomic, pointer: string) =>
  [pointer, text(on, limit), text(on, used), text(on, remaining)] as const;

const count = (on: Case, window: Window, limit: number, used: number, span: SpanValues): void =>
  addReason(on, used < limit ? say.withinCount : say.aboveCount, window.maxPointer ?? "/limits/counts", limit, used, ...span);

function cooldown(on: Case): void {
  const seconds = on.policy.cooldownSeconds;
  if (seconds === null) return;
  const last = on.usage.lastHeldAt;
  const passed = last === null ? seconds : Math.floor(ageOf(last, on.now) / 1_000);
  const remaining = Math.max(0, seconds - passed);
  if (remaining === 0) addReason(on, say.cool, seconds);
  else addReason(on, say.cooling, seconds, remaining);
}

/** Only the buyer's share of the fee; the seller's share is not counted. */
export function maximumFee(on: Case): void {
  const rule = on.policy.maximumFee;
  if (rule === null) return;
  const { amount, fee } = on.intent;
  const counted = (one: Atomic): Atomic => countedAs(on.policy, on.intent, one) ?? zero;
  const share = counted(fee.buyerShare);
  // A part of the price is compared in the asset of both, where nothing was rounded up.
  const most = "bps" in rule ? basisPointsUp(amount, rule.bps) : null;
  const limit = "bps" in rule ? counted(basisPointsUp(amount, rule.bps)) : rule.amount;
  const isWithin = most === null ? share <= limit : fee.buyerShare <= most;
  addReason(on, isWithin ? say.withinFee : say.aboveFee, text(on, share), text(on, limit));
}
