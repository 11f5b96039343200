import type { Hex } from "viem";
import { keccak256, stringToHex } from "viem/utils";
import { canonicalJson } from "#lib/canonical-json.ts";
import { compilePolicy, type CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { Window } from "#lib/mandates/policy/windows.ts";
import { min, type Atomic } from "#lib/money.ts";
import type { Period } from "#lib/vocabulary.ts";

/** MandateRegistry's numbers. proofs: the account accepts a proof as its signature; module: the payment module pays. */
export const PATHS = { proofs: 1, module: 2 } as const;
export type PathName = keyof typeof PATHS;

/** The limits in the registry. Amounts are in atomic units, `start` and `end` in seconds since 1970, addresses in lower case. */
export type RegistrationTerms = {
  readonly account: Hex;
  readonly payee: Hex;
  readonly token: Hex;
  readonly perPaymentLimit: Atomic;
  readonly periodLimit: Atomic;
  readonly periodSeconds: number;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly maxPaymentsPerPeriod: number;
  readonly enforcementPath: number;
  readonly termsHash: Hex;
};

export type TermsSource = {
  readonly policy: Policy;
  /** When this version of the mandate was written. */
  readonly writtenAt: Date;
  readonly decimals: number;
  readonly account: Hex;
  readonly payee: Hex;
  readonly token: Hex;
  readonly path: PathName;
};

/** The terms, or a sentence that says why they cannot be registered. */
export type DerivedTerms =
  | { readonly ok: true; readonly terms: RegistrationTerms }
  | { readonly ok: false; readonly detail: string };

const DAY = 86_400;
/** How long a registration lasts, in seconds, if the policy has no end. A total in the policy can shorten it (endOfTotal). */
const VALID_SECONDS = 365 * DAY;
const UINT128_MAX = 2n ** 128n - 1n;
const UINT32_MAX = 2 ** 32 - 1;

/** The longest month and year, so that in the long run the chain does not allow a budget more often than the policy. */
const calendarSeconds: Readonly<Record<Period, number>> = { day: DAY, week: 7 * DAY, month: 31 * DAY, year: 366 * DAY };

const secondsOf = (window: Window): number =>
  window.kind === "calendar" ? calendarSeconds[window.period] : window.spanMs / 1_000;

export const onChainIdOf = (mandateId: string, version: number): Hex => keccak256(stringToHex(`${mandateId}:${version}`));

/** The hash of the policy, which the account signs together with the limits. */
export const termsHashOf = (policy: Policy): Hex => keccak256(stringToHex(canonicalJson(policy)));

/** `payee` is in lower case. */
export function admitsPayee(policy: Policy, decimals: number, payee: Hex): boolean {
  const { payTo } = compilePolicy(policy, decimals);
  return payTo?.deny?.has(payee) !== true && payTo?.allow?.has(payee) !== false;
}

type Budget = { readonly limit: Atomic; readonly seconds: number };

/** The budget with the lowest rate per second or, of equal rates, the shorter period; null if the policy has no budget. */
function strictest(policy: CompiledPolicy): Budget | null {
  const budgets = policy.windows.flatMap((window) =>
    window.limit === undefined ? [] : [{ limit: window.limit, seconds: secondsOf(window) }],
  );
  const [first = null] = budgets.toSorted((a, b) => {
    const [left, right] = [a.limit * BigInt(b.seconds), b.limit * BigInt(a.seconds)];
    return left === right ? a.seconds - b.seconds : left < right ? -1 : 1;
  });
  return first;
}

/** For each count limit of the policy, the payments of as many whole windows as a period has, at least of one. */
const countsFor = (policy: CompiledPolicy, periodSeconds: number): number[] =>
  policy.windows.flatMap((window) =>
    window.max === undefined ? [] : [window.max * Math.max(1, Math.floor(periodSeconds / secondsOf(window)))],
  );

/**
 * The same version always gives the same limits. In a short time they can allow more than the policy, because the chain
 * enforces one budget and starts its periods with the mandate; the service enforces the whole policy before the chain decides.
 */
export function deriveTerms({ policy, writtenAt, decimals, account, payee, token, path }: TermsSource): DerivedTerms {
  const compiled = compilePolicy(policy, decimals);
  const { validFrom, validUntil, total } = compiled;
  const start = Math.max(0, validFrom === null ? seconds(writtenAt) : Math.ceil(validFrom.getTime() / 1_000));
  const until = validUntil === null ? start + VALID_SECONDS : seconds(validUntil);
  if (start >= until) return refuse("The mandate ends before it could begin on chain.");
  const budget = strictest(compiled) ?? { limit: total ?? (0n as Atomic), seconds: until - start };
  const periodLimit = total === null ? budget.limit : min(budget.limit, total);
  const perPaymentLimit = min(compiled.perPayment, periodLimit);
  if (perPaymentLimit === 0n) return refuse("A limit of zero cannot be registered.");
  const payments = [periodLimit / perPaymentLimit, ...countsFor(compiled, budget.seconds).map(BigInt)].reduce((a, b) =>
    a < b ? a : b,
  );
  const end = Math.min(until, endOfTotal(start, { ...budget, limit: periodLimit }, total));
  if (periodLimit > UINT128_MAX) return refuse("The budget is larger than the registry can hold (uint128).");
  if (payments > BigInt(UINT32_MAX)) {
    return refuse("The limits allow more than 4,294,967,295 payments in a period, which the registry cannot hold.");
  }
  const limits = { perPaymentLimit, periodLimit, periodSeconds: budget.seconds, maxPaymentsPerPeriod: Number(payments) };
  const terms = { account, payee, token, ...limits, start, end, enforcementPath: PATHS[path], termsHash: termsHashOf(policy) };
  return { ok: true, terms };
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

const refuse = (detail: string): DerivedTerms => ({ ok: false, detail });

/** The chain does not count a total, so the terms end after as many whole periods as the total can pay. */
function endOfTotal(start: number, { limit, seconds: length }: Budget, total: Atomic | null): number {
  return total === null ? Infinity : start + length * Number(total / limit);
}
