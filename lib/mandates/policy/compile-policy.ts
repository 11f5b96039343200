import { minutesOf } from "#lib/mandates/policy/duration.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { windowsOf, type Window } from "#lib/mandates/policy/windows.ts";
import { daysWords, weekdays } from "#lib/mandates/policy/words.ts";
import { add, chainOfUnit, countUp, parseAmount, UNIT_DECIMALS, type Atomic } from "#lib/money.ts";
import { minutes } from "#lib/time.ts";
import type { AssuranceLevel, Rail } from "#lib/vocabulary.ts";

/** The longest time that a payment waits for a person's approval if the policy sets none. */
export const REQUEST_MS = minutes(30);

export type AllowDeny = { readonly allow: ReadonlySet<string> | null; readonly deny: ReadonlySet<string> | null };

/** Payments that the policy admits if it names no rails: all that mandates admitted before they could name them. */
const RAILS: readonly Rail[] = ["x402"];
const RECORD_DEADLINE = "P14D";

export type Records = {
  /** Whether a person is asked about each record, because the policy has no rules for them. */
  readonly asks: boolean;
  /** Keys that payeeKey makes; null for any payee. */
  readonly payees: ReadonlySet<string> | null;
  readonly deadlineMs: number;
};

/** The merchants that cards pay. Null for any; `asks`: the policy has no rules, so that a person clears each purchase. */
export type Cards = {
  readonly asks: boolean;
  readonly categories: ReadonlySet<string> | null;
  readonly countries: ReadonlySet<string> | null;
  readonly merchants: ReadonlySet<string> | null;
};

/** Amounts are in atomic units; null means that the policy has no such rule. */
export type CompiledPolicy = {
  readonly decimals: number;
  /** With a unit, the unit and its chain: limits and usage are in it. */
  readonly asset: string;
  readonly chain: string;
  /** With a unit, what one whole asset counts as, by coinKey. */
  readonly rates: ReadonlyMap<string, Atomic> | null;
  readonly rails: ReadonlySet<Rail>;
  /** Whether the policy names its rails, so that its decisions tell about them. */
  readonly namesRails: boolean;
  readonly records: Records;
  readonly cards: Cards;
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

export const coinKey = (asset: string, chain: string): string => `${asset} ${chain}`;

/** What a policy's limits are in: its unit, or else its only asset. */
export function countsIn({ unit, assets: [coin] }: Policy): Coin {
  if (unit !== undefined) return { asset: unit, chain: chainOfUnit(unit) };
  if (coin === undefined) throw new RangeError("A policy without a unit has exactly one asset.");
  return { asset: coin.asset, chain: coin.chain };
}

/** Callers may cache the result by mandate and version, because a version never changes. */
export function compilePolicy(policy: Policy, decimals: number): CompiledPolicy {
  const amountOrNull = (text: string | undefined) => (text === undefined ? null : parseAmount(text, decimals));
  const { limits, sellers, domains, payTo, resources, schedule, approval, maximumFee, validFrom, validUntil } = policy;
  return {
    decimals,
    ...countsIn(policy),
    rates: policy.unit === undefined ? null : new Map(policy.assets.map(rateEntry)),
    rails: new Set(policy.rails ?? RAILS),
    namesRails: policy.rails !== undefined,
    records: compileRecords(policy.records),
    cards: compileCards(policy.cards),
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

const rateEntry = ({ asset, chain, counts = "0" }: Policy["assets"][number]): readonly [string, Atomic] => [
  coinKey(asset, chain),
  parseAmount(counts, UNIT_DECIMALS),
];

/** Where a payment that is made elsewhere goes. */
export type PayeeAccount = { readonly kind: "iban" | "email" | "account"; readonly value: string };

/** One spelling for each account. */
export function accountOf({ kind, value }: PayeeAccount): string {
  const text = value
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .trim();
  if (kind === "email") return text.toLowerCase();
  return text.replaceAll(kind === "iban" ? /[^\p{L}\p{N}]/gu : /[\s.\p{Pd}]/gu, "").toUpperCase();
}

/** For a set of payees. No seller's id has a space. */
export const accountName = (account: PayeeAccount): string => `${account.kind} ${accountOf(account)}`;

type RecordRules = NonNullable<Policy["records"]>;

const payeeKey = (payee: Exclude<RecordRules["payees"], "any">[number]): string =>
  "sellerId" in payee ? payee.sellerId : accountName(payee);

const compileRecords = (rules: RecordRules | undefined): Records => ({
  asks: rules === undefined,
  payees: rules === undefined || rules.payees === "any" ? null : new Set(rules.payees.map(payeeKey)),
  deadlineMs: minutes(minutesOf(rules?.deadline ?? RECORD_DEADLINE) ?? 0),
});

const setOrNull = (names: readonly string[] | undefined) => (names === undefined ? null : new Set(names));

const compileCards = (rules: Policy["cards"]): Cards => ({
  asks: rules === undefined,
  categories: setOrNull(rules?.categories),
  countries: setOrNull(rules?.countries),
  merchants: setOrNull(rules?.merchants),
});

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

type Coin = { readonly asset: string; readonly chain: string };
/** `decimals` is null for an asset that is not configured here (any more). */
type Charge = Coin & {
  readonly decimals: number | null;
  readonly amount: Atomic;
  readonly fee: { readonly buyerShare: Atomic };
};
type Rates = Pick<CompiledPolicy, "rates">;

/** Null without a unit, and if the policy does not pay in the asset. */
export const rateOf = ({ rates }: Rates, { asset, chain }: Coin): Atomic | null => rates?.get(coinKey(asset, chain)) ?? null;

/** What an amount of the payment's asset counts as in the mandate's budget; null if the policy has no rate for the asset. */
export function countedAs(policy: Rates, coin: Omit<Charge, "amount" | "fee">, amount: Atomic): Atomic | null {
  if (policy.rates === null) return amount;
  const rate = rateOf(policy, coin);
  const { decimals } = coin;
  return rate === null || decimals === null ? null : countUp({ amount, decimals, rate });
}

/** The price and the buyer's share of the fee, as one amount. */
export const chargeOf = ({ amount, fee }: Pick<Charge, "amount" | "fee">): Atomic => add(amount, fee.buyerShare);

/** What the payment takes from the mandate's budget; null if the policy has no rate for the asset. */
export const takenBy = (policy: Rates, charge: Charge): Atomic | null => countedAs(policy, charge, chargeOf(charge));
