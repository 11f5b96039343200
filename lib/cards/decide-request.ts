import { createHash } from "node:crypto";
import { findCard, type CardRow, type ConnectionRow } from "#lib/cards/connection-store.ts";
import { isServed, type CardRequest, type Purchase } from "#lib/cards/stripe-event.ts";
import { database } from "#lib/db/client.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import { submitItem } from "#lib/payments/authorize-payment.ts";
import type { FinalAnswer, Item } from "#lib/payments/queue-item.ts";
import { chainOfUnit, formatAmount, UNIT_DECIMALS, zero } from "#lib/money.ts";
import { minutes, toWire } from "#lib/time.ts";
import type { Environment } from "#lib/vocabulary.ts";

/** `reason` is a denialCode, or why nothing was decided. */
export type CardDecision = { readonly approved: boolean; readonly reason: string; readonly authorizationId: string | null };

export const cardDeclined = (reason: string): CardDecision => ({ approved: false, reason, authorizationId: null });

const hash = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 32);

type Question = {
  readonly connection: ConnectionRow;
  readonly card: CardRow;
  /** One decision for each name. */
  readonly name: string;
  readonly request: CardRequest;
  readonly requestId: string;
};

/** The question for the mandate, as if the card's agent had asked it. */
export function itemOf({ connection, card, name, request, requestId }: Question): Item {
  const { connectionId, organizationId, environment } = connection;
  const { cardId, currency, merchant, stripeId, amount, position } = request;
  const asset = currency;
  const key = `card:${hash(`${connectionId}\n${name}`)}`;
  const text = formatAmount(amount, UNIT_DECIMALS);
  return {
    slot: hash(`receiveCardEvent\n${connectionId}\n${name}`),
    fingerprint: hash(JSON.stringify([stripeId, position, cardId, text, asset])),
    idempotencyKey: key,
    organizationId,
    environment: environment as Environment,
    asker: { kind: "card", subjectId: card.subjectId, connectionId, cardId },
    mandateId: card.mandateId,
    position,
    requestId,
    intent: {
      intentId: key,
      nonce: key,
      enforcementPath: "offchain",
      paymentChallengeType: "card",
      seller: { name: merchant.name ?? (merchant.id || "Unknown merchant") },
      amount: text,
      asset,
      chain: chainOfUnit(asset),
      card: cardUse(connectionId, request),
      expiresAt: toWire(new Date(Date.now() + minutes(5))),
    },
  };
}

const cardUse = (connectionId: string, { cardId, stripeId, merchant }: Purchase & { readonly stripeId: string }) => ({
  connectionId,
  cardId,
  stripeAuthorizationId: stripeId,
  category: merchant.category,
  ...(merchant.country !== null && { country: merchant.country }),
  merchant: merchant.id,
});

function decisionOf(answer: FinalAnswer): CardDecision {
  if (answer.kind === "problem") return cardDeclined(answer.problem.code);
  const { authorizationId, policyDecision } = JSON.parse(answer.body) as Authorization;
  const approved = policyDecision.outcome === "allow";
  return { approved, authorizationId, reason: policyDecision.denialCode ?? "allowed" };
}

/** Decides by the mandate of the card. A repeat of the event gets the same decision. */
export async function decideRequest(
  connection: ConnectionRow,
  eventId: string,
  request: CardRequest,
  requestId: string,
): Promise<CardDecision> {
  if (connection.endedAt) return cardDeclined("connection_ended");
  if (!isServed(request)) return cardDeclined("currency_not_served");
  const card = await findCard(database(), connection.connectionId, request.cardId);
  if (!card) return cardDeclined("card_not_mapped");
  // A merchant asks whether the card exists. Nothing is held for it.
  if (request.amount === zero) return { approved: true, reason: "nothing_held", authorizationId: null };
  return decisionOf(await submitItem(itemOf({ connection, card, name: eventId, request, requestId })));
}
