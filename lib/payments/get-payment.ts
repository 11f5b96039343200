import { presentApproval, statusAt } from "#lib/approvals/present-checkout.ts";
import { findApproved, type ApprovedCheckout } from "#lib/approvals/decision/redeem-approval.ts";
import { findCheckout, type Scope } from "#lib/approvals/store.ts";
import { presentWaiver } from "#lib/approvals/decision/present-waiver.ts";
import { waiverOf } from "#lib/approvals/decision/waiver-store.ts";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/payments/contract.ts";
import { executionsOf, findAuthorization, type AuthorizationRow } from "#lib/holds/execution-store.ts";
import { recordedWithParts } from "#lib/holds/record-store.ts";
import { notificationOf } from "#lib/notices/notification.ts";
import { approvalRequestOf, presentParts, presentPayment } from "#lib/payments/present-execution.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

export const getPayment: Handler<typeof contract.getPayment> = async ({ authorizationId }, { caller }) => {
  const row = await findAuthorization(database(), caller, authorizationId);
  if (!row) throw notFound("payment");
  const payment = {
    ...presentPayment(row, await executionsOf(database(), [authorizationId]), caller.subjectId),
    ...(row.intent.paymentChallengeType === "record" && presentParts(row, await recordedWithParts(database(), authorizationId))),
  };
  if (row.outcome === "deny") {
    const waiver = await waiverOf(database(), authorizationId);
    return { ...payment, ...(waiver && { waiver: presentWaiver(waiver) }) };
  }
  const asked = (await findApproved(database(), authorizationId)) ?? (await askedElsewhere(caller, row));
  if (!asked) return payment;
  const { checkout, approval } = asked;
  const { checkoutIntentId, expiresAt } = checkout;
  const now = await clock(database());
  const notification = await notificationOf(checkout, now);
  return {
    ...payment,
    ...(approval && { approval: presentApproval(approval, checkout.tokenDecimals, now) }),
    checkout: { checkoutIntentId, status: statusAt(checkout, now), expiresAt: toWire(expiresAt) },
    ...(notification && { notification }),
  };
};

/** A person's approval counts only for the earlier payment that asked the same question, so `approval` is null here. */
async function askedElsewhere(caller: Scope, row: AuthorizationRow): Promise<ApprovedCheckout | null> {
  const { checkoutIntentId } = approvalRequestOf(row);
  const checkout = checkoutIntentId === undefined ? null : await findCheckout(database(), caller, checkoutIntentId);
  return checkout && { checkout, approval: null };
}
