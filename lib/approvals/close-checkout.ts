import { audit } from "#lib/audit/transact.ts";
import type { ApprovalRow, CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import {
  endApproval,
  findApproval,
  findAsker,
  findCheckout,
  lockCheckout,
  setCheckoutStatus,
  type Scope,
} from "#lib/approvals/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { reservationIdOf } from "#lib/holds/ids.ts";
import { holdOf, lockMandate, releaseHold } from "#lib/holds/hold-store.ts";
import { notFound, Problem } from "#lib/problem.ts";

export type OpenCheckout = { readonly checkout: CheckoutRow; readonly approval: ApprovalRow | null };

/** `moved` means that the checkout's mandate changed before the lock, so that the right mandate is not locked. */
type CheckoutSnapshot = OpenCheckout & { readonly rightsGone: boolean; readonly moved: boolean };

/** Locks the gate, which keeps revocations out, then the mandate, then the checkout. @throws Problem not_found */
export async function openToClose(tx: Tx, scope: Scope, checkoutIntentId: string): Promise<CheckoutSnapshot> {
  const known = await findCheckout(tx, scope, checkoutIntentId);
  if (!known) throw notFound("checkout");
  await enterGate(tx);
  const mandate = known.mandateId === null ? null : await lockMandate(tx, known.mandateId);
  const checkout = await lockCheckout(tx, scope, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  const { agent } = await findAsker(tx, checkout);
  const rightsGone = mandate?.status === "revoked" || agent?.active === false;
  return {
    checkout,
    approval: await findApproval(tx, checkoutIntentId),
    rightsGone,
    moved: checkout.mandateId !== known.mandateId,
  };
}

type Close = {
  readonly status: "rejected" | "canceled" | "expired" | "superseded";
  readonly actorId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly takesBack?: boolean;
};

export const beingDecided = (): Problem =>
  new Problem("conflict", { detail: "This checkout is being decided at this moment. Ask again." });

/** Needs the lock of the checkout and, if an amount is reserved, of its mandate. @throws Problem conflict if `moved` */
export async function closeCheckout(
  tx: Tx,
  { checkout, approval, moved = false }: OpenCheckout & { readonly moved?: boolean },
  close: Close,
  now: Date,
): Promise<CheckoutRow> {
  if (moved) throw beingDecided();
  const { checkoutIntentId, organizationId, ownerSubjectId, authorizationId } = checkout;
  const { status, actorId, metadata, takesBack = false } = close;
  const event = { actorId, organizationId, subjectId: ownerSubjectId };
  if (approval?.status === "pending") {
    const ended = status === "expired" ? "expired" : "revoked";
    await endApproval(tx, approval.approvalId, ended, now, takesBack ? actorId : null);
    const entity = { entityType: "continuation", entityId: approval.continuationTokenId ?? approval.approvalId };
    if (status !== "expired")
      audit(tx, { ...event, type: "continuation.revoked", ...entity, metadata: { checkoutIntentId } }, now);
  }
  const hold = authorizationId === null ? null : await holdOf(tx, authorizationId);
  if (hold?.status === "held") await releaseHold(tx, hold, status === "expired" ? "expired" : "released");
  const released = hold?.status === "held" ? { reservationId: reservationIdOf(hold) } : {};
  const entity = { entityType: "checkout", entityId: checkoutIntentId };
  const type = takesBack ? "checkout.approvalTakenBack" : `checkout.${status}`;
  audit(tx, { ...event, type, ...entity, metadata: { ...metadata, ...released } }, now);
  return setCheckoutStatus(tx, checkoutIntentId, status, now);
}
