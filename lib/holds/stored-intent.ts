import type { FeeQuote, PaymentIntent } from "#lib/payment-intent.ts";

/** The members of a fee quote by their place in what is stored: some may come at the end, none may change places. */
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

/** Stands where the quote says what its intent says. */
const SAME = 0;
const ABSENT = null;

type Named = Readonly<Record<string, unknown>>;

/** An intent as JSON, its fee quote without names and without what the intent says as well: half of the quote is that. */
export function storeIntent(intent: PaymentIntent): string {
  const named = intent as Named;
  const quote = intent.feeQuote as Named;
  const values = members.map((name) => {
    const value = quote[name];
    return value === undefined ? ABSENT : value === named[name] ? SAME : value;
  });
  return JSON.stringify({ ...intent, feeQuote: values });
}

/** The intent that was stored. Rows of before hold the quote by names. */
export function readIntent(stored: string): PaymentIntent {
  const intent = JSON.parse(stored) as Named;
  const values = intent["feeQuote"];
  if (!Array.isArray(values)) return intent as unknown as PaymentIntent;
  const feeQuote: Record<string, unknown> = {};
  for (const [at, name] of members.entries()) {
    const value: unknown = values[at] ?? ABSENT;
    if (value !== ABSENT) feeQuote[name] = value === SAME ? intent[name] : value;
  }
  return { ...intent, feeQuote } as unknown as PaymentIntent;
}
