import { audit, clock } from "#lib/audit/transact.ts";
import { closeCheckout } from "#lib/approvals/close-checkout.ts";
import { lockApproved } from "#lib/approvals/decision/redeem-approval.ts";
import { expireRedeemed, undecidedAmong } from "#lib/approvals/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Reason } from "#lib/mandates/policy/facts.ts";
import type { OpenRefused } from "#lib/mandates/mandate-schema.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { formatAmount } from "#lib/money.ts";
import { reservationIdsOf } from "#lib/holds/ids.ts";
import { releaseHolds } from "#lib/holds/hold-store.ts";
import { heldUnder, mayHoldMore, submittedUnder } from "#lib/holds/open-payment-store.ts";
import { forbiddenAmong } from "#lib/holds/recheck-payments.ts";
import type { DenialCode } from "#lib/vocabulary.ts";

const NAMED = 100;
const CANCELED_MAX = 1_000;
/** Lower for payments whose checkout waits or is approved, because each of these checkouts is ended by its own statements. */
const ASKED_MAX = 100;

type By = { readonly subjectId: string; readonly requestId: string };
type Hold = Awaited<ReturnType<typeof heldUnder>>[number];
type Refusal = { readonly payment: Hold | Awaited<ReturnType<typeof submittedUnder>>[number]; readonly reason: Reason };

/**
 * Finds the newest held and submitted payments that the mandate no longer allows; null if none. `cancel` cancels held
 * ones, up to CANCELED_MAX, and needs enterGate before lockMandate. Lock the mandate, so that no payment is added.
 */
export async function refuseOpen(tx: Tx, mandate: MandateRow, cancel: boolean, by: By): Promise<OpenRefused | null> {
  if (mandate.reserved === 0n) return null;
  const held = await heldUnder(tx, mandate);
  const submitted = await submittedUnder(tx, mandate);
  const { mandateId, version, agents } = mandate;
  const policy = compilePolicy(mandate.policy, decimalsOf(mandate));
  const open = [...held, ...submitted];
  const reasons = await forbiddenAmong(tx, { mandateId, version, status: "active", policy, agents }, open);
  const refused = open.flatMap((payment, at): Refusal[] => (reasons[at] ? [{ payment, reason: reasons[at] }] : []));
  if (refused.length === 0) return null;
  const isHeld = new Set(held.map(({ authorizationId }) => authorizationId));
  const cancelable = held.filter(({ authorizationId }) =>
    refused.some(({ payment }) => payment.authorizationId === authorizationId),
  );
  const canceled = cancel ? await cancelHeld(tx, mandate, cancelable.slice(0, CANCELED_MAX), by) : new Set<string>();
  const stateOf = (authorizationId: string) => {
    if (canceled.has(authorizationId)) return "canceled";
    return isHeld.has(authorizationId) ? "held" : "submitted";
  };
  const newest = refused.toSorted((a, b) => (a.payment.authorizationId < b.payment.authorizationId ? 1 : -1)).slice(0, NAMED);
  return {
    items: newest.map((one) => present(one, stateOf(one.payment.authorizationId))),
    canceled: canceled.size,
    more: refused.length > NAMED || (await mayHoldMore(tx, mandate)),
  };
}

function present({ payment, reason }: Refusal, state: OpenRefused["items"][number]["state"]) {
  const { authorizationId, amount, asset, intent } = payment;
  const { domain } = intent.seller;
  return {
    authorizationId,
    amount: formatAmount(amount, decimalsOf(payment)),
    asset,
    ...(domain !== undefined && { domain }),
    state,
    denialCode: reason.code as DenialCode,
    message: reason.message,
  };
}

/** Also ends the checkouts in which people were asked; returns the ids of the canceled authorizations. */
async function cancelHeld(tx: Tx, mandate: MandateRow, payments: readonly Hold[], by: By): Promise<ReadonlySet<string>> {
  if (payments.length === 0) return new Set();
  const now = await clock(tx);
  const { mandateId, organizationId } = mandate;
  const metadata = { requestId: by.requestId, mandateId, version: mandate.version };
  const asked = await undecidedAmong(
    tx,
    payments.map(({ authorizationId }) => authorizationId),
  );
  const ending = asked.slice(0, ASKED_MAX);
  for (const authorizationId of ending) {
    const opened = await lockApproved(tx, authorizationId);
    if (opened) await closeCheckout(tx, opened, { status: "canceled", actorId: by.subjectId, metadata }, now);
  }
  const rest = payments.filter(({ authorizationId }) => !asked.includes(authorizationId));
  const released = await releaseHolds(
    tx,
    mandate,
    rest.map(({ authorizationId }) => authorizationId),
  );
  if (released.length > 0) {
    const reservationIds = reservationIdsOf(released);
    const event = { type: "reservation.released", actorId: by.subjectId, organizationId };
    audit(tx, { ...event, entityType: "mandate", entityId: mandateId, metadata: { ...metadata, reservationIds } }, now);
  }
  for (const { checkoutIntentId, ownerSubjectId } of await expireRedeemed(tx, released)) {
    const entity = { entityType: "checkout", entityId: checkoutIntentId, subjectId: ownerSubjectId };
    audit(tx, { type: "checkout.expired", actorId: by.subjectId, organizationId, ...entity, metadata }, now);
  }
  return new Set([...ending, ...released]);
}
