import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { windowsOf, type Window } from "#lib/mandates/policy/windows.ts";
import { daysWords, weekdays } from "#lib/mandates/policy/words.ts";
import { parseAmount, type Atomic } from "#lib/money.ts";
import { minutes } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** The longest time that a payment waits for a person's approval if the policy sets none. */
export const REQUEST_MS = minutes(30);

export type AllowDeny = { readonly allow: ReadonlySet<string> | null; readonly deny: ReadonlySet<string> | null };

/** Amounts are in atomic units; null means that the policy has no such rule. */
export type CompiledPolicy = {
  readonly decimals: number;
  readonly asset: string;
  readonly chain: string;
  readonly perPayment: Atomic;
  readonly total: Atomic | null;
  readonly windows: readonly Window[];
  readonly cooldownSeconds: number | null;
  readonly sellers: AllowDeny | null;
  readonly unregisteredSellers: "deny" | "allow";
  readonly domains: AllowDeny | null;
  /** Addresses in lower case. */
  readonly payTo: AllowDeny | null;
  /** Keys that resourceKey and routeKey make. */
  readonly resources: ReadonlySet<string> | null;
  readonly schedule: Schedule | null;
  readonly approval: {
    readonly mode: "never" | "always" | "above" | "firstPayment";
    readonly amount: Atomic | null;
    readonly requestMs: number;
  };
  readonly minimumAssuranceLevel: AssuranceLevel | null;
  readonly requireVerifiedSeller: boolean;
  readonly maximumFee: { readonly amount: Atomic } | { readonly bps: number } | null;
  readonly validFrom: Date | null;
  readonly validUntil: Date | null;
};

/** Monday is 0; `from` and `to` are minutes since local midnight, and `to` is exclusive. */
export type Schedule = {
  readonly days: ReadonlySet<number>;
  readonly from: number;
  readonly to: number;
  readonly timezone: string;
  readonly text: string;
};

export const resourceKey = (sellerId: string, resourceId: string): string => `${sellerId} ${resourceId}`;
export const routeKey = (sellerId: string, method: string, pathTemplate: string): string =>
  `${sellerId} ${method} ${pathTemplate}`;

/** Callers may cache the result by mandate and version, because a version never changes. */
export function compilePolicy(policy: Policy, decimals: number): CompiledPolicy {
  const amountOrNull = (text: string | undefined) => (text === undefined ? null : parseAmount(text, decimals));
  const [coin] = policy.assets;
  if (coin === undefined) throw new RangeError("A policy has exactly one asset.");
  const { limits, sellers, domains, payTo, resources, schedule, approval, maximumFee, validFrom, validUntil } = policy;
  return {
    decimals,
    asset: coin.asset,
    chain: coin.chain,
    perPayment: parseAmount(limits.perPayment, decimals),
    total: amountOrNull(limits.total),
    windows: windowsOf(policy, decimals),
    cooldownSeconds: limits.cooldownSeconds ?? null,
    sellers: sellers ? allowDeny(sellers) : null,
    unregisteredSellers: sellers?.unregistered ?? "deny",
    domains: domains ? allowDeny(domains) : null,
    payTo: payTo ? allowDeny(payTo, (address) => address.toLowerCase()) : null,
    resources: resources ? new Set(resources.map(keyOf)) : null,
    schedule: schedule ? compileSchedule(schedule) : null,
    approval: {
      mode: approval?.mode ?? "never",
      amount: amountOrNull(approval?.amount),
      requestMs: approval?.expiresInSeconds === undefined ? REQUEST_MS : approval.expiresInSeconds * 1_000,
    },
    minimumAssuranceLevel: policy.minimumAssuranceLevel ?? null,
    requireVerifiedSeller: policy.requireVerifiedSeller ?? false,
    maximumFee:
      maximumFee === undefined ? null : "bps" in maximumFee ? maximumFee : { amount: parseAmount(maximumFee.amount, decimals) },
    validFrom: validFrom === undefined ? null : new Date(validFrom),
    validUntil: validUntil === undefined ? null : new Date(validUntil),
  };
}

function allowDeny(
  rule: { allow?: string[] | undefined; deny?: string[] | undefined },
  normalize = (entry: string) => entry,
): AllowDeny {
  const set = (entries: string[] | undefined) => (entries === undefined ? null : new Set(entries.map(normalize)));
  return { allow: set(rule.allow), deny: set(rule.deny) };
}

const keyOf = (rule: NonNullable<Policy["resources"]>[number]): string =>
  "resourceId" in rule ? resourceKey(rule.sellerId, rule.resourceId) : routeKey(rule.sellerId, rule.method, rule.pathTemplate);

/** 24:00 is 1,440. */
export const minuteOfDay = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

function compileSchedule(schedule: NonNullable<Policy["schedule"]>): Schedule {
  const days = schedule.days.map((day) => weekdays.indexOf(day)).sort((a, b) => a - b);
  return {
    days: new Set(days),
    from: minuteOfDay(schedule.from),
    to: minuteOfDay(schedule.to),
    timezone: schedule.timezone,
    text: `${daysWords(schedule.days)} from ${schedule.from} to ${schedule.to} (${schedule.timezone})`,
  };
}
