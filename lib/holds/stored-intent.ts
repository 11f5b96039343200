import { hash } from "node:crypto";
import type { FeeQuote, PaymentIntent } from "#lib/payment-intent.ts";

/*
 * A payment intent is stored in three parts. The terms (seller, resource, chain, fee schedule) are the same for most payments to
 * one seller, so they are stored once, under their hash. Three fields are columns of the authorization. The rest is stored with
 * each authorization as JSON.
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

const ofColumns: readonly (keyof PaymentIntent)[] = ["intentId", "nonce", "createdAt"];

/** Splits an object in two: the fields with the given names, and all other fields. */
function split(value: object, names: readonly string[]): readonly [Members, Members] {
  const [named, others]: Record<string, unknown>[] = [{}, {}];
  for (const [name, one] of Object.entries(value)) (names.includes(name) ? named : others)![name] = one;
  return [named!, others!];
}

export type StoredIntent = {
  /** The SHA-256 hash of `terms`, in base64url. */
  readonly termsId: string;
  /** The terms as JSON: the seller, the resource, the chain and the fee schedule. */
  readonly terms: string;
  /** The fields of the intent that are neither terms nor columns, as JSON. */
  readonly own: string;
};

export function storeIntent({ feeQuote, ...intent }: PaymentIntent): StoredIntent {
  const [terms, others] = split(intent, ofTerms);
  const [, own] = split(others, ofColumns);
  const { createdAt, ...quoted } = feeQuote;
  const [feeTerms, fees] = split(createdAt === intent.createdAt ? quoted : feeQuote, ofFeeTerms);
  const text = JSON.stringify({ ...terms, feeQuote: feeTerms });
  return { termsId: hash("sha256", text, "base64url"), terms: text, own: JSON.stringify({ ...own, feeQuote: fees }) };
}

type Part = Omit<PaymentIntent, "feeQuote"> & { readonly feeQuote: Partial<FeeQuote> };

/** Puts an intent together. `stored` is a JSON array of its parts in this order: own fields, terms, columns. */
export function readIntent(stored: string): PaymentIntent {
  const [own, terms, columns] = JSON.parse(stored) as readonly [Part, Part, Part];
  const feeQuote = { createdAt: columns.createdAt, ...terms.feeQuote, ...own.feeQuote } as FeeQuote;
  return { ...terms, ...own, ...columns, feeQuote };
}
