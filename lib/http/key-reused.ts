/** The detail for a request whose idempotency key was used before; also in the API documentation. */
export const keyReusedDetail =
  "This idempotency key was used for a different request. Repeat that request to get its answer. A new key is only for something new: for the same payment, it would hold the budget a second time.";
