import type { Call } from "#lib/call-schema.ts";
import { executePayment } from "#lib/payments/contract.ts";

/** What is recorded is for the caller to add. */
export const record = (authorizationId: string): Call => ({
  method: "POST",
  path: `/api/v1/payments/${authorizationId}/record`,
});

/** An authorization is paid at most once, so its id is also the idempotency key, and every retry is the same request. */
export const execute = (authorizationId: string): Call => ({
  method: "POST",
  path: executePayment.path,
  body: { authorizationId, idempotencyKey: authorizationId },
});
