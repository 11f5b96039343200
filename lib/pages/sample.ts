/* The quickstart's sample request, as the browser sends it. */

export type Sample = {
  /** Symbol of the asset that the sample pays with. */
  readonly asset: string;
  /** The policy of a mandate under which the sample is allowed. */
  readonly policy: object;
  /** The agent's payment intent with the seller's 402 response, without the fields that differ for each request. */
  readonly intent: object;
};

type Fresh = { readonly name: string; readonly expiresAt: Date };

/**
 * The body of the sample's request. `name` is the intent id, the nonce and the idempotency key, so a retry returns the same
 * decision.
 */
export const sampleBody = (mandateId: string, { intent }: Sample, { name, expiresAt }: Fresh) => ({
  mandateId,
  intent: { intentId: name, nonce: name, idempotencyKey: name, ...intent, expiresAt: expiresAt.toISOString() },
});
