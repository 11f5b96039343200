import type { Call } from "#lib/call-schema.ts";
import { executePayment } from "#lib/payments/contract.ts";

/** An authorization is paid once, so its id serves as the idempotency key: every retry is the same attempt. */
export const execute = (authorizationId: string): Call => ({
  method: "POST",
  path: executePayment.path,
  body: { authorizationId, idempotencyKey: authorizationId },
});
