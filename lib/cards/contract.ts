import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { Timestamp } from "#lib/time.ts";

const WebhookSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/=_-]{16,200}$/, "Copy the signing secret of the endpoint at Stripe, which begins with whsec_.")
  .meta({ description: "The signing secret of the endpoint at Stripe. It is stored encrypted and never shown." });

const Name = z.string().trim().min(1).max(100);
const StripeCardId = z
  .string()
  .regex(/^ic_[A-Za-z0-9_]{1,120}$/, "Write the id of a card at Stripe, such as ic_1MvSieLkdIwHu7ixn.");

const Card = z
  .object({
    cardId: z.string(),
    name: z.string(),
    mandateId: z.string(),
    serviceAccountId: z.string().meta({ description: "The agent for which the card pays." }),
    createdAt: Timestamp,
  })
  .meta({ id: "Card" });
export type Card = z.infer<typeof Card>;

const CardConnection = z
  .object({
    connectionId: z.string(),
    name: z.string(),
    webhookUrl: z
      .string()
      .meta({ description: "The address of the endpoint at Stripe, for real-time authorizations and for events." }),
    secrets: z.int().meta({ description: "How many signing secrets are accepted: two while one is replaced." }),
    cards: z.array(Card),
    createdAt: Timestamp,
  })
  .meta({ id: "CardConnection", description: "A Stripe account whose cards ask this service." });
export type CardConnection = z.infer<typeof CardConnection>;

const connectionId = "ccn_01kaj4n7v8e2m0x3c9t5q6r7cc";
const cardId = "ic_1MvSieLkdIwHu7ixn6uuO0Xu";
const card: Card = {
  cardId,
  name: "Cloud bills",
  mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7sb",
  serviceAccountId: "sa_01kaj4n7v8e2m0x3c9t5q6r7s1",
  createdAt: "2026-11-21T12:00:00.000Z",
};
const connection: CardConnection = {
  connectionId,
  name: "Our Stripe account",
  webhookUrl: `https://pay.example.com/api/v1/rails/stripe/${connectionId}`,
  secrets: 1,
  cards: [card],
  createdAt: "2026-11-21T12:00:00.000Z",
};
const access = { sessionCapability: "mandates:create" } as const;
const problems = ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"] as const;

export const connectCards = operation({
  id: "connectCards",
  method: "POST",
  path: "/api/v1/rails/stripe",
  tag: "Cards",
  summary: "Connect the cards of a Stripe account",
  description:
    "Stripe asks this service before a card pays, and the mandate of the card answers. The service gets no key of Stripe's API: it decides, and Stripe moves the money. Create an endpoint at Stripe for real-time authorizations (issuing_authorization.request) with the webhookUrl of the reply, and send it issuing_authorization.created and .updated and issuing_transaction.created too. At Stripe, set what happens on a timeout and on an error to decline.",
  access,
  status: 201,
  body: z.strictObject({ name: Name, webhookSecret: WebhookSecret }).meta({ id: "ConnectCards" }),
  response: CardConnection,
  problems,
  example: {
    body: { name: connection.name, webhookSecret: "whsec_0123456789abcdef0123456789abcdef" },
    response: { ...connection, cards: [] },
  },
});

export const listCardConnections = operation({
  id: "listCardConnections",
  method: "GET",
  path: "/api/v1/rails/stripe",
  tag: "Cards",
  summary: "List the connected Stripe accounts and their cards",
  access: { sessionCapability: "mandates:read" },
  response: z.object({ items: z.array(CardConnection) }).meta({ id: "CardConnectionList" }),
  problems: [],
  example: { response: { items: [connection] } },
});

export const updateCardConnection = operation({
  id: "updateCardConnection",
  method: "PATCH",
  path: "/api/v1/rails/stripe/{connectionId}",
  tag: "Cards",
  summary: "Replace the signing secret of a connection, or end it",
  description:
    "A new secret is accepted beside the one before, until the next call that sends one, or dropPrevious. After a connection has ended, its cards are declined; what they hold still follows Stripe's events.",
  access,
  body: z
    .union([
      z.strictObject({ webhookSecret: WebhookSecret }),
      z.strictObject({ dropPrevious: z.literal(true) }),
      z.strictObject({ ended: z.literal(true) }),
    ])
    .meta({ id: "UpdateCardConnection" }),
  response: CardConnection,
  problems,
  example: { params: { connectionId }, body: { dropPrevious: true }, response: connection },
});

export const setCard = operation({
  id: "setCard",
  method: "PUT",
  path: "/api/v1/rails/stripe/{connectionId}/cards/{cardId}",
  tag: "Cards",
  summary: "Let a card pay under a mandate, for an agent",
  description:
    "The mandate must admit the rail card. With mandateId null the card is removed: it is declined from then on. What a card holds stays held under the mandate that allowed it.",
  access,
  body: z
    .union([
      z.strictObject({ name: Name, mandateId: z.string().max(128), serviceAccountId: z.string().max(128) }),
      z.strictObject({ mandateId: z.null() }),
    ])
    .meta({ id: "SetCard" }),
  response: z.object({ card: Card.nullable() }).meta({ id: "SetCardReply" }),
  problems,
  example: {
    params: { connectionId, cardId },
    body: { name: card.name, mandateId: card.mandateId, serviceAccountId: card.serviceAccountId },
    response: { card },
  },
});

/** The version of Stripe's API in whose form Stripe's answers are written. */
export const STRIPE_VERSION = "2026-10-28.endive";

export const receiveCardEvent = operation({
  id: "receiveCardEvent",
  method: "POST",
  path: "/api/v1/rails/stripe/{connectionId}",
  tag: "Cards",
  summary: "Receive an event of Stripe, and decide about a card's request",
  description:
    "Only Stripe calls this, with the header Stripe-Signature over the bytes of the body. issuing_authorization.request is answered by the mandate of the card within 1.2 seconds; later the answer is no. Other events bring what is held to what Stripe says, and are answered with received.",
  access: "signature",
  bodyLimits: { bytes: 262_144, nodes: 8_000, depth: 24 },
  headers: { "Stripe-Version": STRIPE_VERSION },
  body: z.unknown().meta({ id: "StripeEvent", description: "An event as Stripe signed it." }),
  response: z
    .object({
      approved: z.boolean().optional(),
      metadata: z.record(z.string(), z.string()).optional().meta({ description: "Stripe stores it with the authorization." }),
      received: z.literal(true).optional(),
    })
    .meta({ id: "CardReply" }),
  problems: ["not_found", "forbidden"],
  example: {
    params: { connectionId },
    body: { id: "evt_1", type: "issuing_authorization.request", created: 1_795_521_600, data: { object: {} } },
    response: { approved: true, metadata: { authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa", reason: "allowed" } },
  },
});

export const closeCardPayment = operation({
  id: "closeCardPayment",
  method: "POST",
  path: "/api/v1/rails/payments/{authorizationId}/close",
  tag: "Cards",
  summary: "Answer the question about a payment by card",
  description:
    "For a person who has looked at Stripe. If Stripe told nothing for four days (unconfirmed), what is held becomes free again, with the same step-up as for approving that amount. More than was held (exceeded), or paid without asking the mandate (outside), counts already: the question ends. What Stripe tells later still counts.",
  access: { sessionCapability: "payments:record" },
  body: z.strictObject({}).meta({ id: "CloseCardPayment" }),
  response: z.object({ released: z.string(), unit: z.string() }).meta({ id: "ClosedCardPayment" }),
  problems,
  example: {
    params: { authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa" },
    body: {},
    response: { released: "12.5", unit: "USD" },
  },
});

export { StripeCardId };
