import type { FeeQuote, PaymentIntent } from "#lib/payment-intent.ts";

/** The members of a fee quote by position in the stored array. Append-only: never reorder. */
const members = [
  "feeQuoteId",
  "feeScheduleId",
  "buyerOrganizationId",
  "sellerOrganizationId",
  "settlementMode",
  "enforcementPath",
  "paymentProtocol",
  "paymentChallengeType",
  "chain",
  "asset",
  "grossAmount",
  "sellerNetAmount",
  "serviceFeeAmount",
  "providerFeeAmount",
  "networkFeeAmount",
  "feePayer",
  "feeRecipient",
  "feeScheduleHash",
  "expiresAt",
  "createdAt",
  "metadata",
] as const satisfies readonly (keyof FeeQuote)[];

/** Marks a value of the quote that equals the intent's value. */
const SAME = 0;
const ABSENT = null;

type Members = Readonly<Record<string, unknown>>;

/** An intent as JSON. To save space, the fee quote is an array of values, and 0 replaces a value that equals the intent's value. */
export function storeIntent(intent: PaymentIntent): string {
  const named = intent as Members;
  const quote = intent.feeQuote as Members;
  const values = members.map((name) => {
    const value = quote[name];
    return value === undefined ? ABSENT : value === named[name] ? SAME : value;
  });
  return JSON.stringify({ ...intent, feeQuote: values });
}

export function readIntent(stored: string): PaymentIntent {
  const intent = JSON.parse(stored) as Members;
  const values = intent["feeQuote"] as readonly unknown[];
  const feeQuote: Record<string, unknown> = {};
  for (const [at, name] of members.entries()) {
    const value: unknown = values[at] ?? ABSENT;
    if (value !== ABSENT) feeQuote[name] = value === SAME ? intent[name] : value;
  }
  return { ...intent, feeQuote } as unknown as PaymentIntent;
}
