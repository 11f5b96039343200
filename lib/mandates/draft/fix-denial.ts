import { localTimeAt } from "#lib/mandates/policy/calendar.ts";
import { checkPolicy } from "#lib/mandates/policy/check-policy.ts";
import { minuteOfDay } from "#lib/mandates/policy/compile-policy.ts";
import type { IntentFacts, Reason } from "#lib/mandates/policy/facts.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { weekdays } from "#lib/mandates/policy/words.ts";
import { formatAmount, parseAmount } from "#lib/money.ts";

type Budget = NonNullable<Policy["limits"]["budgets"]>[number];
type Schedule = NonNullable<Policy["schedule"]>;
type Count = NonNullable<Policy["limits"]["counts"]>[number];

/** Amounts are decimal text of the mandate's asset. */
export type Change =
  | { readonly of: "perPayment" | "total" | "fee"; readonly amount: string }
  | { readonly of: "feeShare"; readonly bps: number }
  | { readonly of: "budget"; readonly at: number; readonly span: Budget; readonly amount: string }
  | { readonly of: "count"; readonly at: number; readonly span: Count; readonly max: number }
  | { readonly of: "seller" | "payTo" | "domain"; readonly entry: string }
  | { readonly of: "resource"; readonly sellerId: string; readonly resourceId: string }
  | { readonly of: "schedule"; readonly schedule: Schedule }
  | { readonly of: "agent"; readonly subjectId: string };

export type Terms = { readonly policy: Policy; readonly agents: readonly string[] | null };
export type Fix = Terms & { readonly changes: readonly Change[] };

type Denied = {
  readonly terms: Terms;
  readonly decimals: number;
  readonly intent: IntentFacts;
  /** The reasons of a decision about this intent under `terms`. */
  readonly reasons: readonly Reason[];
  /** When the payment is asked for again; a changed schedule includes this time. */
  readonly now: Date;
};

/**
 * Only a suggestion: the caller decides about the payment again with the changed mandate. Null if no change is needed, if a
 * denying rule should not or cannot be loosened, or if the changed policy would be invalid.
 */
export function fixDenial({ terms, decimals, intent, reasons, now }: Denied): Fix | null {
  const changes = new Map<string, Change>();
  for (const reason of reasons) {
    if (reason.effect !== "deny") continue;
    const change =
      reason.rule === "schedule" ? scheduleFor(terms.policy, now) : changeFor(reason, terms.policy, intent, decimals);
    if (change === null) return null;
    changes.set(keyOf(change), change);
  }
  if (changes.size === 0) return null;
  const list = [...changes.values()];
  const fixed = list.reduce(withChange, terms);
  return checkPolicy(fixed.policy, { decimals }).length > 0 ? null : { ...fixed, changes: list };
}

const keyOf = (change: Change): string => `${change.of} ${"at" in change ? change.at : ""}`;

function changeFor(reason: Reason, policy: Policy, intent: IntentFacts, decimals: number): Change | null {
  const { rule, code, pointer = "", used, requested } = reason;
  const sum = (): string => {
    const [a, b] = [used, requested].map((text) => parseAmount(text ?? "0", decimals));
    return formatAmount((a ?? 0n) + (b ?? 0n), decimals);
  };
  switch (rule) {
    case "limits.perPayment":
      return requested === undefined ? null : { of: "perPayment", amount: requested };
    case "limits.total":
      return { of: "total", amount: sum() };
    case "limits.budgets": {
      const [at, span] = entryAt(pointer, policy.limits.budgets);
      return span && { of: "budget", at, span, amount: sum() };
    }
    case "limits.counts": {
      const [at, span] = entryAt(pointer, policy.limits.counts);
      return span && { of: "count", at, span, max: Number(used) + 1 };
    }
    case "maximumFee":
      return feeFor(reason, policy, intent);
    case "agents":
      return code === "agent_not_bound" && intent.agent.type === "serviceAccount"
        ? { of: "agent", subjectId: intent.agent.subjectId }
        : null;
    default:
      return sellerChange(reason, intent);
  }
}

/** The pointer is like /limits/budgets/1. */
function entryAt<T>(pointer: string, list: readonly T[] | undefined): readonly [number, T | null] {
  const at = Number(pointer.split("/").at(-1));
  return [at, list?.[at] ?? null];
}

const PERCENT_100 = 10_000;

function feeFor({ requested }: Reason, { maximumFee }: Policy, { amount, fee: { buyerShare } }: IntentFacts): Change | null {
  if (maximumFee === undefined || requested === undefined) return null;
  if ("amount" in maximumFee) return { of: "fee", amount: requested };
  // The smallest share whose part of the amount, rounded up, reaches the fee.
  const bps = amount === 0n ? null : Number(((buyerShare - 1n) * BigInt(PERCENT_100)) / amount + 1n);
  return bps === null || bps > PERCENT_100 ? null : { of: "feeShare", bps };
}

const HOUR = 60;
const hours = (count: number): string => `${String(count).padStart(2, "0")}:00`;

/** Adds the day, and whole hours: two of them, so that there is time to save the change and to ask again. */
function scheduleFor({ schedule }: Policy, now: Date): Change | null {
  if (schedule === undefined) return null;
  const { weekday, minuteOfDay: minute } = localTimeAt(schedule.timezone, now);
  const hour = Math.floor(minute / HOUR);
  const until = Math.min(hour + 2, 24);
  const days = weekdays.filter((day, at) => at === weekday || schedule.days.includes(day));
  const from = minuteOfDay(schedule.from) > minute ? hours(hour) : schedule.from;
  const to = minuteOfDay(schedule.to) <= minute ? hours(until) : schedule.to;
  return { of: "schedule", schedule: { ...schedule, days, from, to } };
}

/** Null for an unregistered or unverified seller, and for rules that no allow list loosens. */
function sellerChange({ pointer }: Reason, { seller, resource, payTo }: IntentFacts): Change | null {
  if (seller?.verified !== true) return null;
  if (pointer === "/sellers/allow") return { of: "seller", entry: seller.sellerId };
  if (pointer === "/payTo/allow") return payTo === null ? null : { of: "payTo", entry: payTo };
  if (pointer === "/domains/allow") return { of: "domain", entry: seller.domain };
  if (pointer !== "/resources" || resource === null) return null;
  return { of: "resource", sellerId: resource.sellerId, resourceId: resource.resourceId };
}

export function withChange({ policy, agents }: Terms, change: Change): Terms {
  const { limits } = policy;
  const limited = (changed: Partial<Policy["limits"]>): Terms => ({
    agents,
    policy: { ...policy, limits: { ...limits, ...changed } },
  });
  switch (change.of) {
    case "perPayment":
    case "total":
      return limited({ [change.of]: change.amount });
    case "budget":
      return limited({ budgets: replaced(limits.budgets, change.at, { amount: change.amount }) });
    case "count":
      return limited({ counts: replaced(limits.counts, change.at, { max: change.max }) });
    case "fee":
      return { agents, policy: { ...policy, maximumFee: { amount: change.amount } } };
    case "feeShare":
      return { agents, policy: { ...policy, maximumFee: { bps: change.bps } } };
    case "schedule":
      return { agents, policy: { ...policy, schedule: change.schedule } };
    case "agent":
      return { policy, agents: [...(agents ?? []), change.subjectId] };
    case "resource": {
      const { sellerId, resourceId } = change;
      return { agents, policy: { ...policy, resources: [...(policy.resources ?? []), { sellerId, resourceId }] } };
    }
    case "seller":
    case "payTo":
    case "domain": {
      const list = ({ seller: "sellers", payTo: "payTo", domain: "domains" } as const)[change.of];
      const allow = [...(policy[list]?.allow ?? []), change.entry];
      return { agents, policy: { ...policy, [list]: { ...policy[list], allow } } };
    }
  }
}

const replaced = <T>(list: T[] | undefined, at: number, changed: Partial<T>): T[] =>
  (list ?? []).map((one, index) => (index === at ? { ...one, ...changed } : one));
