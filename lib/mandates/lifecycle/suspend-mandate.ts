import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { suspendMandate as operation } from "#lib/mandates/contract.ts";
import { takeStep } from "#lib/mandates/lifecycle/take-step.ts";

export const suspendMandate: Handler<typeof operation> = ({ id, body }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    await closeGate(tx, caller.organizationId);
    return takeStep(tx, id, "suspend", { by: caller, requestId, reason: body.reason });
  });
