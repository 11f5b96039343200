import { hash } from "node:crypto";
import type { FeeQuote, PaymentIntent } from "#lib/payment-intent.ts";

/*
 * An intent is stored in two parts. The terms (seller, resource, chain, fee schedule) are the same for most payments to one seller and are
 * stored once, under their hash. The rest is stored with each authorization.
 */

type Members = Readonly<Record<string, unknown>>;

const ofTerms: readonly (keyof PaymentIntent)[] = [
  "enforcementPath",
  "paymentProtocol",
  "paymentChallengeType",
  "settlementMode",
  "seller",
  "resource",
  "asset",
  "chain",
  "payTo",
];

const ofFeeTerms: readonly (keyof FeeQuote)[] = [
  "feeScheduleId",
  "buyerOrganizationId",
  "sellerOrganizationId",
  "settlementMode",
  "enforcementPath",
  "paymentProtocol",
  "paymentChallengeType",
  "chain",
  "asset",
  "feePayer",
  "feeRecipient",
  "feeScheduleHash",
];

/** The members with these names, and the other members. */
function split(value: object, names: readonly string[]): readonly [Members, Members] {
  const [named, others]: Record<string, unknown>[] = [{}, {}];
  for (const [name, one] of Object.entries(value)) (names.includes(name) ? named : others)![name] = one;
  return [named!, others!];
}

export type StoredIntent = {
  /** The hash of the terms. */
  readonly termsId: string;
  /** JSON. */
  readonly terms: string;
  /** JSON: the members that are not terms. */
  readonly own: string;
};

export function storeIntent({ feeQuote, ...intent }: PaymentIntent): StoredIntent {
  const [terms, own] = split(intent, ofTerms);
  const [feeTerms, fees] = split(feeQuote, ofFeeTerms);
  const text = JSON.stringify({ ...terms, feeQuote: feeTerms });
  return { termsId: hash("sha256", text, "base64url"), terms: text, own: JSON.stringify({ ...own, feeQuote: fees }) };
}

/** `stored` is a JSON array of the two parts. */
export function readIntent(stored: string): PaymentIntent {
  const [own, terms] = JSON.parse(stored) as readonly [PaymentIntent, PaymentIntent];
  return { ...terms, ...own, feeQuote: { ...terms.feeQuote, ...own.feeQuote } };
}
