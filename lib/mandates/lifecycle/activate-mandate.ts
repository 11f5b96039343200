import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { activateMandate as operation } from "#lib/mandates/contract.ts";
import { letMandatePay } from "#lib/mandates/lifecycle/let-mandate-pay.ts";
import { takeStep } from "#lib/mandates/lifecycle/take-step.ts";

export const activateMandate: Handler<typeof operation> = ({ id }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, async (tx) => {
    await requireStillHeld(tx, caller, "mandates:manage");
    return takeStep(tx, id, "activate", {
      by: caller,
      requestId,
      allow: (row) => letMandatePay(tx, caller, row, row.policy, ["activateMandate", row.version]),
    });
  });
