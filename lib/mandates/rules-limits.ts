import { calendarPeriodAt, localTimeAt } from "#lib/mandates/calendar.ts";
import type { BucketUsage, ReasonWindow } from "#lib/mandates/facts.ts";
import { deny, display, satisfy, text, type Case } from "#lib/mandates/reason.ts";
import { bucketCounts, windowAt, type Window } from "#lib/mandates/windows.ts";
import { basisPointsUp, max, subtract, zero, type Atomic } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";

/** Checks amounts, payment counts and times. */
export function limitRules(on: Case): void {
  schedule(on);
  perPayment(on);
  total(on);
  for (const window of on.policy.windows) windowRules(on, window);
  cooldown(on);
  maximumFee(on);
}

function schedule(on: Case): void {
  const rule = on.policy.schedule;
  if (rule === null) return;
  const pointer = "/schedule";
  const { weekday, minuteOfDay } = localTimeAt(rule.timezone, on.now);
  const open = rule.days.has(weekday) && minuteOfDay >= rule.from && minuteOfDay < rule.to;
  if (open) satisfy(on, "schedule", `Payments are allowed on ${rule.text}.`, { pointer });
  else deny(on, "outside_schedule", "schedule", `Payments are allowed on ${rule.text} alone.`, { pointer });
}

function perPayment(on: Case): void {
  const { requested, policy } = on;
  const limit = policy.perPayment;
  const details = { pointer: "/limits/perPayment", limit: text(on, limit), requested: text(on, requested), unit: policy.asset };
  const payment = `This payment of ${display(on, requested)}`;
  if (requested <= limit)
    satisfy(on, "limits.perPayment", `${payment} is within the limit of ${display(on, limit)} per payment.`, details);
  else
    deny(
      on,
      "per_payment_limit_exceeded",
      "limits.perPayment",
      `${payment} is above the limit of ${display(on, limit)} per payment.`,
      details,
    );
}

/** The rest of a limit. Zero if overruns used more than the limit. */
export const remainingOf = (limit: Atomic, spent: Atomic, reserved: Atomic): Atomic =>
  max(zero, subtract(subtract(limit, spent), reserved));

function total(on: Case): void {
  const { policy, usage, requested } = on;
  const limit = policy.total;
  if (limit === null) return;
  const remaining = remainingOf(limit, usage.spent, usage.reserved);
  const details = amounts(on, limit, (usage.spent + usage.reserved) as Atomic, remaining, "/limits/total", { kind: "lifetime" });
  const left = `${display(on, remaining)} of ${display(on, limit)} are left in total`;
  if (remaining === 0n)
    deny(
      on,
      "mandate_exhausted",
      "limits.total",
      `The mandate is used up: its ${display(on, limit)} are spent or reserved.`,
      details,
    );
  if (requested <= remaining) satisfy(on, "limits.total", `${left}.`, details);
  else deny(on, "total_budget_exceeded", "limits.total", `${left}, and this payment takes ${display(on, requested)}.`, details);
}

type Sums = { readonly used: Atomic; readonly payments: number };

/** The sums of the buckets that still count. */
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

/** The window in words, as in "17.00 USDC of 20.00 USDC are left today". */
function inWords(window: Window): string {
  if (window.kind === "calendar") return window.period === "day" ? "today" : `this ${window.period}`;
  const minutes = window.spanMs / 60_000;
  return minutes % 60 === 0 ? `within ${minutes / 60} hours` : `within ${minutes} minutes`;
}

function spanOf(window: Window, now: Date): ReasonWindow {
  if (window.kind === "calendar") {
    const { startText, endText } = calendarPeriodAt(window.period, window.timezone, now);
    return { kind: "calendar", start: startText, end: endText, timezone: window.timezone };
  }
  const { start, end } = windowAt(window, now);
  return { kind: "rolling", start: toWire(start), end: toWire(end) };
}

function budget(on: Case, window: Window, limit: Atomic, used: Atomic, span: ReasonWindow): void {
  const remaining = remainingOf(limit, used, zero);
  const details = amounts(on, limit, used, remaining, window.limitPointer ?? "/limits/budgets", span);
  const left = `${display(on, remaining)} of ${display(on, limit)} are left ${inWords(window)}`;
  if (on.requested <= remaining) satisfy(on, "limits.budgets", `${left}.`, details);
  else
    deny(
      on,
      "period_budget_exceeded",
      "limits.budgets",
      `${left}, and this payment takes ${display(on, on.requested)}.`,
      details,
    );
}

function amounts(on: Case, limit: Atomic, used: Atomic, remaining: Atomic, pointer: string, window: ReasonWindow) {
  return {
    pointer,
    limit: text(on, limit),
    used: text(on, used),
    requested: text(on, on.requested),
    remaining: text(on, remaining),
    unit: on.policy.asset,
    window,
  };
}

function count(on: Case, window: Window, limit: number, used: number, span: ReasonWindow): void {
  const left = Math.max(0, limit - used);
  const details = {
    pointer: window.maxPointer ?? "/limits/counts",
    limit: String(limit),
    used: String(used),
    requested: "1",
    remaining: String(left),
    unit: "payments",
    window: span,
  };
  const message = `${left} of ${limit} payments are left ${inWords(window)}.`;
  if (left >= 1) satisfy(on, "limits.counts", message, details);
  else deny(on, "count_limit_exceeded", "limits.counts", message, details);
}

function cooldown(on: Case): void {
  const seconds = on.policy.cooldownSeconds;
  if (seconds === null) return;
  const last = on.usage.lastHeldAt;
  const passed = last === null ? seconds : Math.floor((on.now.getTime() - last.getTime()) / 1_000);
  const remaining = Math.max(0, seconds - passed);
  const details = { pointer: "/limits/cooldownSeconds", limit: String(seconds), remaining: String(remaining), unit: "seconds" };
  if (remaining === 0) satisfy(on, "limits.cooldownSeconds", `The last payment is at least ${seconds} seconds ago.`, details);
  else deny(on, "cooldown_active", "limits.cooldownSeconds", `The next payment is possible in ${remaining} seconds.`, details);
}

/** Limits only the buyer's share of the fee; the seller's share is not counted. */
function maximumFee(on: Case): void {
  const rule = on.policy.maximumFee;
  if (rule === null) return;
  const { amount, fee } = on.intent;
  const limit = "bps" in rule ? basisPointsUp(amount, rule.bps) : rule.amount;
  const details = { pointer: "/maximumFee", limit: text(on, limit), requested: text(on, fee.buyerShare), unit: on.policy.asset };
  const words = `The buyer's fee of ${display(on, fee.buyerShare)}`;
  if (fee.buyerShare <= limit) satisfy(on, "maximumFee", `${words} is within the policy's ${display(on, limit)}.`, details);
  else deny(on, "fee_limit_exceeded", "maximumFee", `${words} is above the policy's ${display(on, limit)}.`, details);
}
