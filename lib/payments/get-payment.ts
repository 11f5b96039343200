import { presentApproval } from "#lib/approvals/present-checkout.ts";
import { findApproved } from "#lib/approvals/redeem-approval.ts";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/payments/contract.ts";
import { executionsOf, findAuthorization } from "#lib/holds/execution-store.ts";
import { presentPayment } from "#lib/payments/present-execution.ts";
import { notFound } from "#lib/problem.ts";

/** Lets a client that lost a reply read the payment again. */
export const getPayment: Handler<typeof contract.getPayment> = async ({ authorizationId }, { caller }) => {
  const row = await findAuthorization(database(), caller, authorizationId);
  if (!row) throw notFound("payment");
  const payment = presentPayment(row, await executionsOf(database(), [authorizationId]), caller.subjectId);
  const approved = await findApproved(database(), authorizationId);
  if (!approved?.approval) return payment;
  return { ...payment, approval: presentApproval(approved.approval, approved.checkout.tokenDecimals, await clock(database())) };
};
