export type Sample = {
  readonly asset: string;
  /** The policy of a mandate under which the sample is allowed. */
  readonly policy: object;
  /** A payment intent without the fields that differ for each request. */
  readonly intent: object;
};

type Fresh = { readonly name: string; readonly expiresAt: Date };

/** `name` is also the idempotency key, so a retry returns the same decision. */
export const sampleBody = (mandateId: string, { intent }: Sample, { name, expiresAt }: Fresh) => ({
  mandateId,
  intent: { intentId: name, nonce: name, idempotencyKey: name, ...intent, expiresAt: expiresAt.toISOString() },
});
