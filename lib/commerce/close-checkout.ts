import { audit } from "#lib/audit/transact.ts";
import type { ApprovalRow, CheckoutRow } from "#lib/commerce/checkout-rows.ts";
import { endApproval, findApproval, findCheckout, lockCheckout, setStatus, type Scope } from "#lib/commerce/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { enterGate } from "#lib/db/gate.ts";
import { holdOf, lockMandate, releaseHold } from "#lib/payments/hold-store.ts";
import { notFound } from "#lib/problem.ts";

export type Opened = { readonly checkout: CheckoutRow; readonly approval: ApprovalRow | null };

/**
 * Locks a checkout behind the mandate that holds for it.
 * @throws Problem not_found
 */
export async function openToClose(tx: Tx, scope: Scope, checkoutIntentId: string): Promise<Opened> {
  const known = await findCheckout(tx, scope, checkoutIntentId);
  if (!known) throw notFound("checkout");
  await enterGate(tx);
  // An approval may choose another mandate meanwhile; then its checkout has an authorization, and the lock below is waited for.
  if (known.mandateId !== null) await lockMandate(tx, known.mandateId);
  const checkout = await lockCheckout(tx, scope, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  return { checkout, approval: await findApproval(tx, checkoutIntentId) };
}

type Close = {
  readonly status: "rejected" | "canceled" | "expired" | "superseded";
  readonly actorId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** Ends a checkout: its approval and continuation with it, and what is held for it is released. Needs the locks of openToClose. */
export async function closeCheckout(tx: Tx, { checkout, approval }: Opened, close: Close, now: Date): Promise<CheckoutRow> {
  const { checkoutIntentId, organizationId, ownerSubjectId, authorizationId } = checkout;
  const { status, actorId, metadata } = close;
  const event = { actorId, organizationId, subjectId: ownerSubjectId };
  if (approval?.status === "pending") {
    await endApproval(tx, approval.approvalId, status === "expired" ? "expired" : "revoked", now);
    const entity = { entityType: "continuation", entityId: approval.continuationTokenId ?? approval.approvalId };
    if (status !== "expired")
      audit(tx, { ...event, type: "continuation.revoked", ...entity, metadata: { checkoutIntentId } }, now);
  }
  const hold = authorizationId === null ? null : await holdOf(tx, authorizationId);
  if (hold?.status === "held") await releaseHold(tx, hold, status === "expired" ? "expired" : "released");
  const released = hold?.status === "held" ? { reservationId: hold.reservationId } : {};
  const entity = { entityType: "checkout", entityId: checkoutIntentId };
  audit(tx, { ...event, type: `checkout.${status}`, ...entity, metadata: { ...metadata, ...released } }, now);
  return setStatus(tx, checkoutIntentId, status, now);
}
