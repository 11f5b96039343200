import { once } from "#lib/http/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { activateMandate as operation } from "#lib/mandates/contract.ts";
import { takeStep } from "#lib/mandates/take-step.ts";

export const activateMandate: Handler<typeof operation> = ({ id }, { caller, idempotency, requestId }) =>
  once(operation, idempotency, (tx) => takeStep(tx, id, "activate", { by: caller, requestId }));
