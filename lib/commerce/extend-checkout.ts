import { latestEnd, requireOpen } from "#lib/approvals/decision/approval.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { beingDecided, openToClose } from "#lib/approvals/close-checkout.ts";
import { presentCheckout } from "#lib/approvals/present-checkout.ts";
import { endsOf, saveExtension as saveExtended } from "#lib/approvals/store.ts";
import { audit, clock } from "#lib/audit/transact.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import type { Tx } from "#lib/db/client.ts";
import { extendHold, holdOf } from "#lib/holds/hold-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** The stored reply of authorizePayment does not change: a retry still returns the first expiry. */
export const extendCheckout: Handler<typeof contract.extendCheckout> = (
  { checkoutIntentId },
  { caller, idempotency, requestId },
) =>
  once(contract.extendCheckout, idempotency, async (tx) => {
    await enterGate(tx);
    await requireStillHeld(tx, caller, "checkouts:approve");
    const { checkout, moved } = await openToClose(tx, caller, checkoutIntentId);
    const now = await clock(tx);
    requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, now);
    if (moved) throw beingDecided();
    if (checkout.extendedAt !== null) return { intent: presentCheckout(checkout, now) };
    const until = latestEnd(checkout, await endsOf(tx, checkout));
    if (until <= checkout.expiresAt) throw noMoreTime();
    const extended = await extend(tx, checkout, until, now);
    const { organizationId, ownerSubjectId: subjectId } = checkout;
    const happened = { type: "checkout.extended", actorId: caller.userId, organizationId, subjectId };
    const metadata = { requestId, from: toWire(checkout.expiresAt), to: toWire(until) };
    audit(tx, { ...happened, entityType: "checkout", entityId: checkoutIntentId, metadata }, now);
    return { intent: presentCheckout(extended, now) };
  });

const noMoreTime = (): Problem =>
  new Problem("conflict", {
    detail: "This request cannot wait longer: the seller's quote, the agent's intent or the mandate ends at the same time.",
  });

async function extend(tx: Tx, checkout: CheckoutRow, until: Date, now: Date): Promise<CheckoutRow> {
  const hold = checkout.authorizationId === null ? null : await holdOf(tx, checkout.authorizationId);
  if (hold?.status === "held") await extendHold(tx, hold, until);
  return saveExtended(tx, checkout, until, now);
}
