import type { Asker, AskerReader } from "#lib/identity/asker.ts";
import { askersOf, subjectNames } from "#lib/identity/subject-name-store.ts";
import { idUnder } from "#lib/ids.ts";
import { reasonsOf } from "#lib/holds/render-answer.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { Fix } from "#lib/mandates/draft/fix-denial.ts";
import { simulatePolicy } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { reading, type Scope } from "#lib/mandates/store.ts";
import { displayAmount } from "#lib/money.ts";
import { allowedOnce, type AllowedOnce } from "#lib/pages/buyer/view-waiver.ts";
import { findFix, fixLink, type FoundFix } from "#lib/payments/refusals/find-fix.ts";
import type { BacktestItem } from "#lib/payments/refusals/backtest.ts";
import { daysAfter, toWire } from "#lib/time.ts";

export type FixView = {
  readonly authorizationId: string;
  /** The domain of the denied payment's seller, or else its name; untrusted text. */
  readonly payee: string;
  readonly amount: string;
  readonly asker: Asker;
  readonly decidedAt: string;
  readonly why: readonly string[];
  /** Null if the current mandate would not deny the same payment again. */
  readonly fix: Fix | null;
  readonly outcome: FoundFix["outcome"];
  /** Whether a person who may change mandates can allow the refused payment once. */
  readonly mayAllowOnce: boolean;
  readonly allowed: AllowedOnce | null;
  /** Of the newest 200 decisions, other denials of the last 30 days that the fix would prevent, newest first. */
  readonly others: readonly BacktestItem[];
  /** Whether there may be more decisions in the 30 days than this view has decided again. */
  readonly more: boolean;
  /** Names of the service accounts that the mandate or the changed mandate is bound to, and of the denied agent. */
  readonly names: Readonly<Record<string, string>>;
};

const DAYS = 30;
const LOOKED_AT = 200;

/** Null if no change is offered, unless the current mandate would not deny the payment again. Writes nothing. */
export const viewFix = (scope: AskerReader, mandateId: string, policyDecisionId: string): Promise<FixView | null> =>
  reading(async (tx, now) => {
    const authorizationId = idUnder("authorization", policyDecisionId);
    const found = await findFix(tx, scope, { mandateId, authorizationId }, now);
    if (!found) return null;
    const { mandate, past, fix, outcome, waivable } = found;
    const since = toWire(daysAfter(now, -DAYS));
    const again = fix ? await simulatePolicy(tx, scope, mandateId, fix.policy, LOOKED_AT) : [];
    const agents = [...(mandate.agents ?? []), ...(fix?.agents ?? []), past.subjectId];
    const askerOf = await askersOf(tx, scope, [past.subjectId]);
    const names = await subjectNames(tx, scope.organizationId, agents);
    return {
      authorizationId,
      payee: past.intent.seller.domain ?? past.intent.seller.name ?? "an unknown seller",
      amount: displayAmount(past.amount + past.buyerShare, decimalsOf(past), past.asset),
      asker: askerOf(past.subjectId),
      decidedAt: toWire(past.createdAt),
      why: reasonsOf(past).flatMap(({ effect, message }) => (effect === "deny" ? [message] : [])),
      fix,
      outcome,
      mayAllowOnce: waivable !== null,
      allowed: await allowedOnce(tx, { ...scope, ...past }, mandate.version, now),
      others: again.filter(
        (one) => one.authorizationId !== authorizationId && one.was === "deny" && one.decidedAt >= since && passes(one, fix),
      ),
      more: again.length === LOOKED_AT && (again.at(-1)?.decidedAt ?? since) >= since,
      names: Object.fromEntries(names),
    };
  });

/** A repeated decision always keeps the denial agent_not_bound, so this function checks the agents itself. */
function passes({ wouldBe, subjectId, reasons }: BacktestItem, fix: Fix | null): boolean {
  if (wouldBe !== "deny") return true;
  const isBound = fix?.changes.some((change) => change.of === "agent" && change.subjectId === subjectId) ?? false;
  return isBound && reasons.every(({ effect, code }) => effect !== "deny" || code === "agent_not_bound");
}

/** `mayAllowOnce`: the payment can also be allowed once, without the change. */
export type FixOffer = { readonly href: string; readonly label: string; readonly mayAllowOnce?: true };

/** Null if no change is offered; "passes" if the current mandate would not deny the same payment again. */
export const offerFix = (scope: Scope, mandateId: string, authorizationId: string): Promise<FixOffer | "passes" | null> =>
  reading(async (tx, now) => {
    const found = await findFix(tx, scope, { mandateId, authorizationId }, now);
    return found && (fixLink(found) ?? "passes");
  });
