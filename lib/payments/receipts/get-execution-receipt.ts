import { findApproved } from "#lib/approvals/decision/redeem-approval.ts";
import { newestEventAbout } from "#lib/audit/read-store.ts";
import { database } from "#lib/db/client.ts";
import { authorizationOf, findExecution } from "#lib/holds/execution-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/payments/receipts/contract.ts";
import { executionReceipt } from "#lib/payments/receipts/make-receipt.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { executionTypes } from "#lib/receipts/check-event.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";

/** The types of events that state a settlement status, unlike, for example, a request to check the execution again. */
const types = [...new Set(Object.values(executionTypes).flat())];

export const getExecutionReceipt: Handler<typeof contract.getExecutionReceipt> = async ({ executionId }, { caller }) => {
  const event = await newestEventAbout({ chain: caller.organizationId, entityId: executionId, types });
  const execution = await findExecution(database(), caller, executionId);
  if (!execution) throw notFound("execution");
  // The status may have changed after the event was read; the receipt would then state a status that the event does not prove.
  if (!event || !executionTypes[execution.settlementStatus as SettlementStatus].includes(event.type))
    throw new Problem("service_unavailable", {
      detail: "The execution is changing its state at this moment. Ask again.",
      retryAfterSeconds: 1,
    });
  const authorization = await authorizationOf(database(), execution);
  const approved = await findApproved(database(), execution.authorizationId);
  return executionReceipt({ authorization, approval: approved?.approval ?? null, event }, execution);
};
