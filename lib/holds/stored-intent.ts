import { hash } from "node:crypto";
import { idUnder } from "#lib/ids.ts";
import type { FeeQuote, PaymentIntent } from "#lib/payment-intent.ts";
import { minutes, toWire } from "#lib/time.ts";

/*
 * A payment intent is stored in three parts: the terms, which many payments share, once under their hash; columns of the
 * authorization and fields that usually follow from them; and all other fields as JSON with each authorization.
 */

type Members = Readonly<Record<string, unknown>>;

const ofTerms: ReadonlySet<string> = new Set<keyof PaymentIntent>([
  "enforcementPath",
  "paymentProtocol",
  "paymentChallengeType",
  "settlementMode",
  "seller",
  "resource",
  "asset",
  "chain",
  "payTo",
]);

const ofFeeTerms: ReadonlySet<string> = new Set<keyof FeeQuote>([
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
]);

/** The columns of the authorization from which a payment intent is read. Times are text, as in the JSON of the API. */
type Columns = {
  readonly authorizationId: string;
  readonly intentId: string;
  readonly nonce: string;
  readonly createdAt: string;
  readonly expiresAt: string;
};

/** The fee quote of an authorization is valid for this many milliseconds. */
export const QUOTE_MS = minutes(15);

/** The usual values of fields, calculated from the columns and the amount. A field is stored only if it differs. */
const usually = ({ intentId, expiresAt }: Columns): Members => ({ idempotencyKey: intentId, expiresAt });
const usuallyQuoted = ({ authorizationId, createdAt }: Columns, amount: string): Members => ({
  feeQuoteId: idUnder("feeQuote", authorizationId),
  grossAmount: amount,
  sellerNetAmount: amount,
  serviceFeeAmount: "0",
  providerFeeAmount: "0",
  networkFeeAmount: "0",
  createdAt,
  expiresAt: toWire(new Date(Date.parse(createdAt) + QUOTE_MS)),
});

function split(value: Members, names: ReadonlySet<string>, usual: Members): readonly [Members, Members] {
  const [named, others]: Record<string, unknown>[] = [{}, {}];
  for (const name in value) {
    const one = value[name];
    if (names.has(name)) named![name] = one;
    else if (one !== usual[name]) others![name] = one;
  }
  return [named!, others!];
}

const HASHED_MAX = 64;
const hashed = new Map<string, string>();

/** Many payments have equal terms, so the hash is cached. */
function termsIdOf(text: string): string {
  let id = hashed.get(text);
  if (id === undefined) {
    if (hashed.size >= HASHED_MAX) hashed.clear();
    hashed.set(text, (id = hash("sha256", text, "base64url").slice(0, 22)));
  }
  return id;
}

export type StoredIntent = {
  /** The first 22 characters (132 bits) of the SHA-256 hash of `terms`, in base64url. */
  readonly termsId: string;
  readonly terms: string;
  /** The fields of the intent that neither belong to the terms nor follow from the columns, as JSON. */
  readonly own: string;
};

export function storeIntent(
  { feeQuote, ...intent }: PaymentIntent,
  columns: Pick<Columns, "authorizationId" | "expiresAt">,
): StoredIntent {
  const all: Columns = { ...columns, intentId: intent.intentId, nonce: intent.nonce, createdAt: intent.createdAt };
  const [terms, own] = split(intent, ofTerms, { ...usually(all), ...all });
  const [feeTerms, fees] = split(feeQuote, ofFeeTerms, usuallyQuoted(all, intent.amount));
  const text = JSON.stringify({ ...terms, feeQuote: feeTerms });
  const kept = Object.keys(fees).length > 0 ? { ...own, feeQuote: fees } : own;
  return { termsId: termsIdOf(text), terms: text, own: JSON.stringify(kept) };
}

type Part = Omit<PaymentIntent, "feeQuote"> & { readonly feeQuote?: Partial<FeeQuote> };

/** Puts an intent together. `stored` is a JSON array of its parts in this order: own fields, terms, columns. */
export function readIntent(stored: string): PaymentIntent {
  const [own, terms, columns] = JSON.parse(stored) as readonly [Part, Part, Columns];
  const { intentId, nonce, createdAt } = columns;
  const feeQuote = { ...usuallyQuoted(columns, own.amount), ...terms.feeQuote, ...own.feeQuote } as FeeQuote;
  return { ...terms, ...usually(columns), ...own, intentId, nonce, createdAt, feeQuote };
}
