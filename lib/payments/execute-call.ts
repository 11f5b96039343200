import type { Call } from "#lib/call-schema.ts";
import { executePayment } from "#lib/payments/contract.ts";

/** One authorization is paid once, so its id is a key under which every repeat is the same attempt. */
export const execute = (authorizationId: string): Call => ({
  method: "POST",
  path: executePayment.path,
  body: { authorizationId, idempotencyKey: authorizationId },
});
