/* The sample of the quickstart as a browser sends it. */

export type Sample = {
  /** The policy of a mandate under which the sample is allowed. */
  readonly policy: object;
  /** The seller's 402 and what the agent makes of it; what is new for each request is left out. */
  readonly intent: object;
};

type Fresh = { readonly name: string; readonly expiresAt: Date };

/** The body of the sample's request. One name serves as intent, nonce and idempotency key: a repeat answers the same decision. */
export const sampleBody = (mandateId: string, { intent }: Sample, { name, expiresAt }: Fresh) => ({
  mandateId,
  intent: { intentId: name, nonce: name, idempotencyKey: name, ...intent, expiresAt: expiresAt.toISOString() },
});
