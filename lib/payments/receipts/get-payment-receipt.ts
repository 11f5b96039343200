import { findApproved } from "#lib/approvals/decision/redeem-approval.ts";
import { oldestEventAbout } from "#lib/audit/read-store.ts";
import { database } from "#lib/db/client.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/payments/receipts/contract.ts";
import { decisionReceipt } from "#lib/payments/receipts/make-receipt.ts";
import { notFound } from "#lib/problem.ts";

export const getPaymentReceipt: Handler<typeof contract.getPaymentReceipt> = async ({ authorizationId }, { caller }) => {
  const authorization = await findAuthorization(database(), caller, authorizationId);
  if (!authorization) throw notFound("payment");
  const event = await oldestEventAbout(authorization.organizationId, authorizationId);
  if (!event) throw new Error("An authorization has no event.");
  const approved = await findApproved(database(), authorizationId);
  return decisionReceipt({ authorization, approval: approved?.approval ?? null, event });
};
