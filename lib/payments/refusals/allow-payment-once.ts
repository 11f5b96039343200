import { letThrough } from "#lib/approvals/decision/let-through.ts";
import { presentWaiver } from "#lib/approvals/decision/present-waiver.ts";
import { insertWaiver, openWaivers, waiverOf, type WaiverRow } from "#lib/approvals/decision/waiver-store.ts";
import {
  clearanceHash,
  clearedMost,
  CLEARANCE_MS,
  OPEN_WAIVERS_MAX,
  WAIVER_MS,
  type WaiverTerms,
} from "#lib/approvals/decision/waiver.ts";
import { audit, clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { once } from "#lib/command/idempotency.ts";
import { cardOfPayment, hasCaptures } from "#lib/holds/card-store.ts";
import { findAuthorization, type AuthorizationRow } from "#lib/holds/execution-store.ts";
import type { MandateRow } from "#lib/holds/hold-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { newId } from "#lib/ids.ts";
import { findFix } from "#lib/payments/refusals/find-fix.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { lockOwnMandate } from "#lib/mandates/store.ts";
import { allowPaymentOnce as operation } from "#lib/payments/contract.ts";
import { notFound, Problem } from "#lib/problem.ts";

/** The mandate does not change, and nothing is reserved or paid. */
export const allowPaymentOnce: Handler<typeof operation> = ({ authorizationId }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    await requireStillHeld(tx, caller, "mandates:manage");
    const refused = await findAuthorization(tx, caller, authorizationId);
    const mandate = refused && (await lockOwnMandate(tx, caller, refused.mandateId));
    if (!mandate) throw notFound("payment");
    const known = await waiverOf(tx, authorizationId);
    if (known) return { waiver: presentWaiver(known) };
    const now = await clock(tx);
    const { card } = refused.intent;
    const waivable = card
      ? !(await wasPaid(tx, authorizationId)) && clearanceTerms(refused, card, mandate)
      : (await findFix(tx, caller, { mandateId: mandate.mandateId, authorizationId }, now))?.waivable;
    if (!waivable) throw notWaivable();
    if ((await openWaivers(tx, mandate.mandateId)) >= OPEN_WAIVERS_MAX) throw tooMany();
    const { policyVersion, charged, payTo, basketHash } = waivable;
    await letThrough(tx, caller, {
      organizationId: mandate.organizationId,
      environment: caller.environment,
      subjectId: authorizationId,
      sellerId: refused.sellerId,
      asset: refused.asset,
      chain: refused.chain,
      decimals: decimalsOf(refused),
      amount: charged,
      // Nobody has verified a merchant of a card.
      verified: !card,
      terms: ["allowPaymentOnce", policyVersion, charged.toString(), payTo, basketHash],
    });
    const { organizationId, environment, subjectId } = caller;
    const waiver = await insertWaiver(tx, {
      ...waivable,
      waiverId: newId("waiver"),
      organizationId,
      environment,
      authorizationId,
      grantedBySubjectId: subjectId,
      expiresAt: new Date(now.getTime() + (card ? CLEARANCE_MS : WAIVER_MS)),
      createdAt: now,
    });
    audit(tx, { ...eventOf(waiver), metadata: { requestId, ...termsOf(waiver) } }, now);
    return { waiver: presentWaiver(waiver) };
  });

/** Stripe let the card pay nevertheless, so there is nothing to clear. */
const wasPaid = async (tx: Tx, authorizationId: string): Promise<boolean> =>
  (await cardOfPayment(tx, authorizationId))?.approved === true || (await hasCaptures(tx, authorizationId));

/** Null unless the mandate is active and nothing but a missing clearance refused the purchase. */
function clearanceTerms(
  { denialCode, subjectId, amount, asset }: AuthorizationRow,
  card: NonNullable<AuthorizationRow["intent"]["card"]>,
  { mandateId, status, version }: Pick<MandateRow, "mandateId" | "status" | "version">,
): WaiverTerms | null {
  if (denialCode !== "clearance_needed" || status !== "active") return null;
  const basketHash = clearanceHash(card.cardId, asset, { ...card, country: card.country ?? null });
  return { mandateId, policyVersion: version, subjectId, basketHash, charged: clearedMost(amount), payTo: "" };
}

const notWaivable = (): Problem =>
  new Problem("conflict", {
    detail:
      "This payment cannot be allowed once. A purchase by card can be cleared if nothing else than the missing clearance refused it. Otherwise only the limit for one payment, the limit for fees and the lists of allowed payees can be waived, for a registered seller with a verified domain, and only while the mandate is active and refuses the payment.",
  });

const tooMany = (): Problem =>
  new Problem("conflict", {
    detail: `${OPEN_WAIVERS_MAX} payments under this mandate are allowed once and were not requested again yet. Wait until they are paid or an hour has passed, or raise the limit in the mandate.`,
  });

const eventOf = ({ organizationId, grantedBySubjectId, subjectId, authorizationId }: WaiverRow) => ({
  type: "payment.allowedOnce",
  actorId: grantedBySubjectId,
  organizationId,
  subjectId,
  entityType: "authorization",
  entityId: authorizationId,
});

const termsOf = ({ waiverId, mandateId, policyVersion, basketHash, charged, payTo, expiresAt }: WaiverRow) => ({
  waiverId,
  mandateId,
  policyVersion,
  basketHash,
  chargedAtomic: charged.toString(),
  payTo,
  expiresAt: expiresAt.toISOString(),
});
