import { reasonsOf } from "#lib/holds/render-answer.ts";
import { findDecision, selectDenied } from "#lib/holds/past-payment-store.ts";
import { subjectNames } from "#lib/identity/sessions/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { findMandate, reading, type Scope } from "#lib/mandates/store.ts";
import { displayAmount } from "#lib/money.ts";
import { findFix, fixLink } from "#lib/payments/find-fix.ts";
import type { FixOffer } from "#lib/pages/view-fix.ts";
import { DAY_MS, toWire } from "#lib/time.ts";

/** `payee`, `agent` and `mandate` are untrusted text. */
export type Refusal = {
  readonly authorizationId: string;
  readonly payee: string;
  readonly amount: string;
  readonly agent: string;
  readonly mandate: string;
  readonly at: string;
  /** The message of the rule that denied the payment first. */
  readonly why: string;
  /** Null if the reader may not change mandates, or if no change is offered. */
  readonly fix: FixOffer | null;
};

const ROWS_MAX = 5;

/** The newest denied payments of the last 24 hours, at most 5. `manage`: whether the reader may change mandates. */
export const viewRefusals = (scope: Scope, { manage }: { readonly manage: boolean }): Promise<readonly Refusal[]> =>
  reading(async (tx, now) => {
    const found: Refusal[] = [];
    for (const place of await selectDenied(tx, scope, ROWS_MAX)) {
      const mandate = await findMandate(tx, scope, place.mandateId);
      const past = mandate && (await findDecision(tx, place.mandateId, place.authorizationId));
      if (!past || now.getTime() - past.createdAt.getTime() > DAY_MS) continue;
      const fix = manage ? await findFix(tx, scope, place, now) : null;
      const names = await subjectNames(tx, scope.organizationId, [past.subjectId]);
      found.push({
        authorizationId: past.authorizationId,
        payee: past.intent.seller.domain ?? past.intent.seller.name ?? "an unknown seller",
        amount: displayAmount(past.amount + past.buyerShare, decimalsOf(mandate), past.asset),
        agent: names.get(past.subjectId) ?? past.subjectId,
        mandate: mandate.name,
        at: toWire(past.createdAt),
        why: reasonsOf(past).find(({ effect }) => effect === "deny")?.message ?? "",
        fix: fix && fixLink(fix),
      });
    }
    return found;
  });
