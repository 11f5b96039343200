import { z } from "zod";
import { CARD_STATUSES, type Snapshot } from "#lib/cards/card-rules.ts";
import { check } from "#lib/http/input.ts";
import { parseJson } from "#lib/http/json.ts";
import { atomicOf, UNIT_DECIMALS, type Atomic } from "#lib/money.ts";
import { invalidField } from "#lib/problem.ts";

/* The parts of Stripe's events that are read here; everything else is kept away. https://docs.stripe.com/api/issuing/authorizations/object */

const Cents = z.int().min(-1e15).max(1e15);
const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9_]{1,120}$`));
/** Stripe writes an object or only its id. */
const idOf = (prefix: string) => z.union([id(prefix), z.object({ id: id(prefix) }).transform((object) => object.id)]);

/** Free text of a merchant, on one line and not longer than `most`. */
const short = (most: number) =>
  z.string().transform((text) => [...text.replaceAll(/\p{Cc}+/gu, " ").trim()].slice(0, most).join(""));

const Merchant = z.object({
  category: short(100),
  country: short(8).nullish(),
  name: short(200).nullish(),
  network_id: short(100),
});

const Transaction = z.object({
  id: id("ipi"),
  type: z.string(),
  amount: Cents,
  currency: z.string().length(3),
  authorization: idOf("iauth").nullish(),
  card: idOf("ic"),
  merchant_data: Merchant.nullish(),
});

const Authorization = z.object({
  id: id("iauth"),
  approved: z.boolean(),
  status: z.string(),
  amount: Cents,
  currency: z.string().length(3),
  card: idOf("ic"),
  merchant_data: Merchant,
  pending_request: z.object({ amount: Cents, currency: z.string().length(3) }).nullish(),
  request_history: z.array(z.object({ reason: z.string().nullish() })).default([]),
  transactions: z.array(Transaction).default([]),
});

const StripeEvent = z.object({
  id: id("evt"),
  type: z.string(),
  created: z.int().min(0).max(9_999_999_999),
  livemode: z.boolean().default(false),
  api_version: z.string().nullish(),
  data: z.object({ object: z.unknown() }),
});

const REQUEST = "issuing_authorization.request";

/** The currencies of cards that Stripe issues. All have two decimals. */
const CURRENCIES: ReadonlySet<string> = new Set(["usd", "eur", "gbp"]);
const MINOR = 10n ** BigInt(UNIT_DECIMALS - 2);

const atomic = (cents: number): Atomic => atomicOf(BigInt(Math.abs(cents)) * MINOR);

export type Purchase = {
  readonly cardId: string;
  /** Such as "USD". */
  readonly currency: string;
  readonly merchant: {
    readonly name: string | null;
    readonly category: string;
    readonly country: string | null;
    readonly id: string;
  };
};

export type ToldTransaction = { readonly id: string; readonly kind: "capture" | "refund"; readonly amount: Atomic };

/** An authorization that Stripe describes, or a transaction that belongs to one or, with a `stripeId` of its own, to none. */
export type Told = Purchase & {
  readonly stripeId: string;
  readonly snapshot: Snapshot | null;
  readonly transactions: readonly ToldTransaction[];
};

/** `amount` is what Stripe would hold in addition, and `position` how many requests it has decided before. */
export type CardRequest = Purchase & { readonly stripeId: string; readonly amount: Atomic; readonly position: number };

export type CardEvent = { readonly eventId: string; readonly isLive: boolean } & (
  | { readonly kind: "request"; readonly request: CardRequest }
  | { readonly kind: "told"; readonly told: Told }
  | { readonly kind: "other" }
);

/** Stripe's objects are deep and wide: a card is in each of them, with its cardholder. */
const LIMITS = { nodes: 8_000, depth: 24 };

const read = <T>(schema: z.ZodType<T>, value: unknown, at: string): T => check(schema, value, at) as T;

const merchantOf = (merchant: z.infer<typeof Merchant> | null | undefined): Purchase["merchant"] => ({
  name: merchant?.name || null,
  category: merchant?.category ?? "",
  country: merchant?.country || null,
  id: merchant?.network_id ?? "",
});

/** Before this version, Stripe called an expired authorization reversed too. https://docs.stripe.com/changelog/basil/2025-03-31 */
const TELLS_EXPIRED = "2025-03-31";

/** An unknown status counts as pending, so that nothing is freed by a word that this release does not know. */
function statusOf(status: string, version: string): Snapshot["status"] {
  if (status === "reversed" && version.slice(0, TELLS_EXPIRED.length) < TELLS_EXPIRED) return "expired";
  return CARD_STATUSES.find((known) => known === status) ?? "pending";
}

const transactionOf = ({ id: transactionId, type, amount }: z.infer<typeof Transaction>): ToldTransaction => ({
  id: transactionId,
  kind: type === "refund" ? "refund" : "capture",
  amount: atomic(amount),
});

type Event = z.infer<typeof StripeEvent>;

function authorizationTold(object: z.infer<typeof Authorization>, { created: at, api_version: version }: Event): Told {
  const { approved, status, amount, request_history: history } = object;
  return {
    stripeId: object.id,
    cardId: object.card,
    currency: object.currency.toUpperCase(),
    merchant: merchantOf(object.merchant_data),
    snapshot: {
      approved,
      status: statusOf(status, version ?? TELLS_EXPIRED),
      amount: atomic(amount),
      // What is told was requested at least once.
      requests: Math.max(history.length, 1),
      at,
    },
    transactions: object.transactions.map(transactionOf),
  };
}

const transactionTold = (object: z.infer<typeof Transaction>): Told => ({
  stripeId: object.authorization ?? object.id,
  cardId: object.card,
  currency: object.currency.toUpperCase(),
  merchant: merchantOf(object.merchant_data),
  snapshot: null,
  transactions: [transactionOf(object)],
});

export const isServed = ({ currency }: Pick<Purchase, "currency">): boolean => CURRENCIES.has(currency.toLowerCase());

/** Whether unverified text says that Stripe waits for a decision, only to choose between declining and refusing to answer. */
export function looksLikeRequest(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly type?: unknown } | null)?.type === REQUEST;
  } catch {
    return false;
  }
}

/** Stripe passes on what merchants write, and PostgreSQL stores no NUL. */
const withoutNul = (text: string): string => text.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1 ");

/** Call this only with text whose signature was checked. @throws Problem invalid_request */
export function readStripeEvent(text: string): CardEvent {
  const event = read(StripeEvent, parseJson(withoutNul(text), LIMITS.nodes, LIMITS.depth), "");
  const { type } = event;
  const base = { eventId: event.id, isLive: event.livemode };
  const { object } = event.data;
  if (type === REQUEST) {
    const authorization = read(Authorization, object, "/data/object");
    const { pending_request: pending } = authorization;
    if (!pending) throw invalidField("/data/object/pending_request", "A request has a pending request.");
    const { stripeId, cardId, merchant } = authorizationTold(authorization, event);
    const position = authorization.request_history.length;
    const purchase = { cardId, merchant, currency: pending.currency.toUpperCase() };
    return { ...base, kind: "request", request: { ...purchase, stripeId, amount: atomic(pending.amount), position } };
  }
  if (type === "issuing_authorization.created" || type === "issuing_authorization.updated")
    return { ...base, kind: "told", told: authorizationTold(read(Authorization, object, "/data/object"), event) };
  if (type === "issuing_transaction.created" || type === "issuing_transaction.updated")
    return { ...base, kind: "told", told: transactionTold(read(Transaction, object, "/data/object")) };
  return { ...base, kind: "other" };
}
