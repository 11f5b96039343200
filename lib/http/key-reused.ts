/** What a second request with an idempotency key that is taken is told; also in the documentation of the API. */
export const keyReusedDetail =
  "This idempotency key was used for a different request, and the answer to that one stands. Repeat that request to get its answer. A new key is for something else: for the same payment it would hold the budget a second time.";
