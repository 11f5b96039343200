import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { revokeMandate as operation } from "#lib/mandates/contract.ts";
import { queueRevocations } from "#lib/onchain/registration/revoke-registrations.ts";
import { takeStep } from "#lib/mandates/lifecycle/take-step.ts";

export const revokeMandate: Handler<typeof operation> = ({ id, body }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    await closeGate(tx, caller.organizationId);
    const revoked = await takeStep(tx, id, "revoke", { by: caller, requestId, reason: body.reason });
    await queueRevocations(tx, id);
    return revoked;
  });
