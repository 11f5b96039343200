import { requireUnused } from "#lib/approvals/decision/approval.ts";
import { closeCheckout, openToClose } from "#lib/approvals/close-checkout.ts";
import { presentApproval, presentCheckout } from "#lib/approvals/present-checkout.ts";
import { findApproval } from "#lib/approvals/store.ts";
import { clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import type { Handler } from "#lib/http/operation.ts";
import { notFound } from "#lib/problem.ts";
import type { ApprovalStatus, CheckoutStatus } from "#lib/vocabulary.ts";

/** Every payment must lock the mandate too, so nothing is paid with the approval after this reply. */
export const takeBackApproval: Handler<typeof contract.takeBackApproval> = (
  { checkoutIntentId },
  { caller, idempotency, requestId },
) =>
  once(contract.takeBackApproval, idempotency, async (tx) => {
    const opened = await openToClose(tx, caller, checkoutIntentId);
    const { approval, checkout } = opened;
    const now = await clock(tx);
    if (approval !== null && approval.takenBackBySubjectId !== null) {
      return { intent: presentCheckout(checkout, now), approval: presentApproval(approval, checkout.tokenDecimals, now) };
    }
    const given = approval && { status: approval.status as ApprovalStatus, expiresAt: approval.expiresAt };
    requireUnused({ status: checkout.status as CheckoutStatus }, given, now);
    const metadata = { requestId, approvalId: approval?.approvalId };
    const close = { status: "rejected", actorId: caller.userId, metadata, takesBack: true } as const;
    const closed = await closeCheckout(tx, opened, close, now);
    const revoked = await findApproval(tx, checkoutIntentId);
    if (!revoked) throw notFound("approval");
    return { intent: presentCheckout(closed, now), approval: presentApproval(revoked, checkout.tokenDecimals, now) };
  });
