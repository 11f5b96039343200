import { findApprovalById } from "#lib/approvals/store.ts";
import { newestEventAbout } from "#lib/audit/read-store.ts";
import { database } from "#lib/db/client.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/payments/receipts/contract.ts";
import { approvalReceipt } from "#lib/payments/receipts/make-receipt.ts";
import { notFound } from "#lib/problem.ts";

export const getApprovalReceipt: Handler<typeof contract.getApprovalReceipt> = async ({ approvalId }, { caller }) => {
  const approval = await findApprovalById(database(), caller, approvalId);
  if (!approval?.authorizationId) throw notFound("approval");
  const { checkoutIntentId, authorizationId } = approval;
  const authorization = await findAuthorization(database(), caller, authorizationId);
  const chain = caller.organizationId;
  const event = await newestEventAbout({ chain, entityId: checkoutIntentId, types: ["checkout.approved"] });
  if (!authorization || !event) throw notFound("approval");
  return approvalReceipt({ authorization, approval, event }, approval);
};
