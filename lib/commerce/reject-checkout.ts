import { clock } from "#lib/audit/transact.ts";
import { requireOpen } from "#lib/approvals/decision/approval.ts";
import { decisionOn, type ApprovalRow, type CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { closeCheckout, openToClose } from "#lib/approvals/close-checkout.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { presentCheckout } from "#lib/approvals/present-checkout.ts";
import { insertDecision } from "#lib/approvals/store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

export const rejectCheckout: Handler<typeof contract.rejectCheckout> = (
  { checkoutIntentId, body },
  { caller, idempotency, requestId },
) =>
  once(contract.rejectCheckout, idempotency, async (tx) => {
    const opened = await openToClose(tx, caller, checkoutIntentId);
    const { checkout } = opened;
    const now = await clock(tx);
    if (checkout.status === "rejected") return { intent: presentCheckout(checkout, now) };
    requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, now);
    const metadata = { requestId, ...(body.reason !== undefined && { reason: body.reason }) };
    const rejected = await closeCheckout(tx, opened, { status: "rejected", actorId: caller.userId, metadata }, now);
    await insertDecision(tx, rejectionOf(checkout, caller.userId, body.reason ?? null, now));
    return { intent: presentCheckout(rejected, now) };
  });

const rejectionOf = (checkout: CheckoutRow, userId: string, reason: string | null, now: Date): ApprovalRow => ({
  ...decisionOn(checkout, userId, now),
  status: "rejected",
  reason,
  mandateId: checkout.mandateId,
  assuranceLevel: "softwareApproved",
  authorizationId: checkout.authorizationId,
  continuationTokenId: null,
  continuationTokenHash: null,
  continuationTokenStatus: null,
  expiresAt: now,
  resolvedAt: now,
});
