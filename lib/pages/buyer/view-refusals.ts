import { reasonsOf } from "#lib/holds/render-answer.ts";
import { selectDenied, type PastDecision } from "#lib/holds/past-payment-store.ts";
import type { Asker, AskerReader } from "#lib/identity/asker.ts";
import { askersOf } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { findMandate, reading } from "#lib/mandates/store.ts";
import { displayAmount } from "#lib/money.ts";
import { findFix, fixLink } from "#lib/payments/refusals/find-fix.ts";
import type { FixOffer } from "#lib/pages/buyer/view-fix.ts";
import { DAY_MS, toWire } from "#lib/time.ts";

/** `payee` and `mandate` are untrusted text. */
export type Refusal = {
  readonly authorizationId: string;
  readonly payee: string;
  readonly amount: string;
  readonly asker: Asker;
  readonly mandate: string;
  /** How often the agent was refused the same payment by the same rule; `at`, `amount` and `why` are those of the newest. */
  readonly times: number;
  /** Whether older refusals of the day were not counted. */
  readonly atLeast: boolean;
  readonly at: string;
  /** The message of the rule that denied the payment first. */
  readonly why: string;
  /** Null if the reader may not change mandates, or if no change is offered. */
  readonly fix: FixOffer | null;
};

const GROUPS_MAX = 5;
/** How many of the newest denied payments are grouped. */
const LOOKED_AT = 50;

const payeeOf = ({ intent: { seller } }: PastDecision): string => seller.domain ?? seller.name ?? "an unknown seller";

/** Refusals that differ only in their time, amount and purpose. */
const sameAs = (past: PastDecision): string =>
  JSON.stringify([past.mandateId, past.subjectId, past.denialCode, payeeOf(past), past.resourceId]);

/** The denied payments of the last 24 hours in groups, at most 5. `manage`: whether the reader may change mandates. */
export const viewRefusals = (scope: AskerReader, { manage }: { readonly manage: boolean }): Promise<readonly Refusal[]> =>
  reading(async (tx, now) => {
    const denied = await selectDenied(tx, scope, LOOKED_AT);
    const ofToday = denied.filter(({ createdAt }) => now.getTime() - createdAt.getTime() <= DAY_MS);
    const groups = [...Map.groupBy(ofToday, sameAs).values()].slice(0, GROUPS_MAX);
    const newest = groups.flatMap(([first]) => first ?? []);
    const askerOf = await askersOf(
      tx,
      scope,
      newest.map(({ subjectId }) => subjectId),
    );
    const found: Refusal[] = [];
    for (const [at, past] of newest.entries()) {
      const mandate = await findMandate(tx, scope, past.mandateId);
      if (mandate === null) continue;
      const fix = manage ? await findFix(tx, scope, past, now) : null;
      found.push({
        authorizationId: past.authorizationId,
        payee: payeeOf(past),
        amount: displayAmount(past.amount + past.buyerShare, decimalsOf(past), past.asset),
        asker: askerOf(past.subjectId),
        mandate: mandate.name,
        times: groups[at]?.length ?? 1,
        atLeast: ofToday.length === LOOKED_AT,
        at: toWire(past.createdAt),
        why: reasonsOf(past).find(({ effect }) => effect === "deny")?.message ?? "",
        fix: fix && fixLink(fix),
      });
    }
    return found;
  });
