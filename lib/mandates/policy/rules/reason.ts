import { takenBy } from "#lib/mandates/policy/compile-policy.ts";
import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Decision, Finding, Findings, IntentFacts, MandateFacts, Usage, Value } from "#lib/mandates/policy/facts.ts";
import { asksPerson, renderReasons, sentenceOf } from "#lib/mandates/policy/render-reasons.ts";
import type { Sentence } from "#lib/mandates/policy/sentences/sentence.ts";
import { formatAmount, zero, type Atomic } from "#lib/money.ts";
import { DenialCode } from "#lib/vocabulary.ts";

const precedence = new Map<string, number>(DenialCode.options.map((code, index) => [code, index]));

export type Case = {
  readonly mandate: MandateFacts;
  readonly policy: CompiledPolicy;
  readonly usage: Usage;
  readonly intent: IntentFacts;
  readonly now: Date;
  /** The price and the buyer's share of the fee, as they count in the mandate's budget; zero if the mandate has no rate for them. */
  readonly requested: Atomic;
  readonly isCounted: boolean;
  readonly denials: Finding[];
  readonly others: Finding[];
};

export function openCase(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): Case {
  const { policy } = mandate;
  const taken = takenBy(policy, intent);
  return { mandate, policy, usage, intent, now, requested: taken ?? zero, isCounted: taken !== null, denials: [], others: [] };
}

export function addReason<V extends readonly Value[]>(on: Case, sentence: Sentence<V>, ...values: V): void {
  (sentence.code === "satisfied" ? on.others : on.denials).push([sentence.id, ...values]);
}

export const text = (on: Case, amount: Atomic): string => formatAmount(amount, on.policy.decimals);

const codeOf = (finding: Finding): string => sentenceOf(finding).code;

/** First the denials in the order of DenialCode, then `approvals`, then the rest in the order of evaluation. */
export function conclude(on: Case, approvals: readonly Finding[]): Decision {
  const [first] = on.denials.sort((a, b) => (precedence.get(codeOf(a)) ?? 0) - (precedence.get(codeOf(b)) ?? 0));
  const all = [...on.denials, ...approvals, ...on.others];
  const findings: Findings = [1, on.mandate.version, on.policy.asset, text(on, on.requested), ...all];
  const made = { findings, reasons: renderReasons(findings) };
  if (first !== undefined) return { outcome: "deny", denialCode: codeOf(first) as DenialCode, ...made };
  return { outcome: approvals.some(asksPerson) ? "requireApproval" : "allow", ...made };
}
