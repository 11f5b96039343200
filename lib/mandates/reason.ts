import type { CompiledPolicy } from "#lib/mandates/compile-policy.ts";
import type { Decision, IntentFacts, MandateFacts, Reason, Usage } from "#lib/mandates/facts.ts";
import { displayAmount, formatAmount, type Atomic } from "#lib/money.ts";
import { DenialCode } from "#lib/vocabulary.ts";

const precedence = new Map<string, number>(DenialCode.options.map((code, index) => [code, index]));

type Details = Omit<Reason, "code" | "rule" | "effect" | "message" | "policyVersion">;

/** One intent under one mandate at one time: the input of every rule, and the list of their reasons. */
export type Case = {
  readonly mandate: MandateFacts;
  readonly policy: CompiledPolicy;
  readonly usage: Usage;
  readonly intent: IntentFacts;
  readonly now: Date;
  /** The amount to take from the budget: the payment and the buyer's share of the fee. */
  readonly requested: Atomic;
  readonly denials: Reason[];
  readonly others: Reason[];
};

export function openCase(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): Case {
  const requested = (intent.amount + intent.fee.buyerShare) as Atomic;
  return { mandate, policy: mandate.policy, usage, intent, now, requested, denials: [], others: [] };
}

export function deny(on: Case, code: DenialCode, rule: string, message: string, details?: Details): void {
  on.denials.push({ code, rule, effect: "deny", message, ...details, policyVersion: on.mandate.version });
}

export function satisfy(on: Case, rule: string, message: string, details?: Details): void {
  // Keep these members first and in this order: storage replaces their common text with one phrase.
  on.others.push({ code: "satisfied", effect: "allow", rule, message, ...details, policyVersion: on.mandate.version });
}

/** Amounts of the mandate's asset, for people and for reasons. */
export const display = (on: Case, amount: Atomic): string => displayAmount(amount, on.policy.decimals, on.policy.asset);
export const text = (on: Case, amount: Atomic): string => formatAmount(amount, on.policy.decimals);

/** Orders reasons: denials by precedence, then approvals, then the rest in order of evaluation. */
export function conclude(on: Case, approvals: readonly Reason[]): Decision {
  const [first] = on.denials.sort((a, b) => (precedence.get(a.code) ?? 0) - (precedence.get(b.code) ?? 0));
  const rest = [...approvals, ...on.others];
  if (first !== undefined) return { outcome: "deny", denialCode: first.code as DenialCode, reasons: [...on.denials, ...rest] };
  return { outcome: approvals.some(({ effect }) => effect === "approval") ? "requireApproval" : "allow", reasons: rest };
}
