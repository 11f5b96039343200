import { audit, clock } from "#lib/audit/transact.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { notFound, Problem } from "#lib/problem.ts";
import * as contract from "#lib/settlement/contract.ts";
import { findAnyExecution, hastenCheck } from "#lib/settlement/store.ts";

export const recheckExecution: Handler<typeof contract.recheckExecution> = ({ executionId, body }, { caller, idempotency }) =>
  once(contract.recheckExecution, idempotency, async (tx) => {
    await enterGate(tx);
    const now = await clock(tx);
    await requireRight(tx, caller, "platform.emergency.revoke", now);
    const found = await findAnyExecution(tx, caller.environment, executionId);
    if (!found) throw notFound("execution");
    if (!(await hastenCheck(tx, executionId)))
      throw new Problem("conflict", { detail: "The outcome of this execution is final. There is nothing to ask." });
    const { organizationId, subjectId } = found;
    const event = { actorId: caller.userId, organizationId, subjectId, entityType: "execution", entityId: executionId };
    audit(tx, { ...event, type: "payment.recheckRequested", metadata: { reason: body.reason } }, now);
    return { executionId, status: "accepted" as const };
  });
