import { Stripe } from "stripe";

const stripe = new Stripe("sk_test_none");
export const SECRET = "whsec_0123456789abcdef0123456789abcdef";

const merchant = { category: "computer_software_stores", country: "US", name: "Ink and Co", network_id: "4711" };
let count = 0;
export const newId = (prefix: string): string => `${prefix}_${++count}${Date.now()}`;

type Purchase = { readonly cardId: string; readonly iauth: string };

/** An authorization as Stripe writes it. Amounts are in cents. */
export const authorization = ({ cardId, iauth }: Purchase, change: Record<string, unknown> = {}) => ({
  id: iauth,
  object: "issuing.authorization",
  approved: true,
  status: "pending",
  amount: 0,
  currency: "usd",
  card: { id: cardId, object: "issuing.card", last4: "4242" },
  merchant_data: merchant,
  pending_request: null,
  request_history: [{ approved: true, reason: "webhook_approved" }],
  transactions: [],
  ...change,
});

export const request = (purchase: Purchase, amount: number, position = 0, change: Record<string, unknown> = {}) =>
  authorization(purchase, {
    approved: position > 0,
    pending_request: { amount, currency: "usd", is_amount_controllable: false },
    request_history: Array.from({ length: position }, () => ({ approved: true, reason: "webhook_approved" })),
    ...change,
  });

export const transaction = ({ cardId, iauth }: Purchase, amount: number, change: Record<string, unknown> = {}) => ({
  id: newId("ipi"),
  object: "issuing.transaction",
  type: "capture",
  amount: -amount,
  currency: "usd",
  authorization: iauth,
  card: cardId,
  merchant_data: merchant,
  ...change,
});

/** Members of the event, such as api_version. */
export type EventFields = { readonly id?: string; readonly created?: number; readonly [member: string]: unknown };

/** An event as Stripe writes it. The same id is a repeat. */
export const eventOf = (
  type: string,
  object: unknown,
  { id = newId("evt"), created = Math.floor(Date.now() / 1000), ...more }: EventFields = {},
) => ({ id, object: "event", type, created, livemode: false, data: { object }, ...more });

/** The header of Stripe's own library. */
export const signedByStripe = (payload: string, secret = SECRET): { readonly "stripe-signature": string } => ({
  "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload, secret }),
});
