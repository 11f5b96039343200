import type { Decision, Finding } from "#lib/mandates/policy/facts.ts";
import type { Case } from "#lib/mandates/policy/rules/reason.ts";
import { denies } from "#lib/mandates/policy/render-reasons.ts";
import * as limits from "#lib/mandates/policy/sentences-limits.ts";
import * as seller from "#lib/mandates/policy/sentences/seller.ts";
import * as waived from "#lib/mandates/policy/sentences/waived.ts";

/** Budgets, totals, counts and all other rules cannot be waived, so a waiver never spends more than the mandate's budgets. */
const waivable: ReadonlyMap<number, number> = new Map(
  (
    [
      [limits.abovePerPayment, waived.perPaymentWaived],
      [limits.aboveFee, waived.feeWaived],
      [seller.payeeNotListed, waived.payeeWaived],
      [seller.sellerNotListed, waived.sellerWaived],
      [seller.domainNotListed, waived.domainWaived],
      [seller.resourceNotListed, waived.resourceWaived],
    ] as const
  ).map(([denial, instead]) => [denial.id, instead.id]),
);

const replacements: ReadonlySet<number> = new Set(waivable.values());

const waivedOf = ([id, ...values]: Finding): readonly Finding[] => {
  const instead = waivable.get(id);
  return instead === undefined ? [] : [[instead, ...values]];
};

/** False, without a change, if nothing denies, nobody waived, a denying rule cannot be waived, or the seller is not verified. */
export function waive({ intent, denials, others }: Case): boolean {
  if (intent.waived !== true || intent.seller?.verified !== true || denials.length === 0) return false;
  const instead = denials.flatMap(waivedOf);
  if (instead.length < denials.length) return false;
  denials.length = 0;
  others.push(...instead);
  return true;
}

export const canBeWaived = ([id]: Finding): boolean => waivable.has(id);

const findingsOf = ({ findings: [, , , , ...all] }: Pick<Decision, "findings">): readonly Finding[] => all;

/** The caller must also check that the seller is verified, because the findings do not tell and waive() requires it. */
export function isWaivable(decision: Pick<Decision, "findings">): boolean {
  const denials = findingsOf(decision).filter(denies);
  return denials.length > 0 && denials.every(canBeWaived);
}

/** Whether a waiver by a person is the only reason why the payment was not denied. */
export const usesWaiver = (decision: Pick<Decision, "findings" | "outcome">): boolean =>
  decision.outcome !== "deny" && findingsOf(decision).some(([id]) => replacements.has(id));
