import { findCardConnection, type ConnectionRow } from "#lib/cards/connection-store.ts";
import type * as contract from "#lib/cards/contract.ts";
import { cardDeclined, decideRequest, type CardDecision } from "#lib/cards/decide-request.ts";
import { followAgain, followCard } from "#lib/cards/follow-card.ts";
import { secretsOf } from "#lib/cards/secrets.ts";
import { isSignedByStripe } from "#lib/cards/signature.ts";
import { looksLikeRequest, readStripeEvent, type CardEvent } from "#lib/cards/stripe-event.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { cardOfPayment } from "#lib/holds/card-store.ts";
import { createBuckets, requireAllowed, takeAddress } from "#lib/http/rate-limit.ts";
import { isProblem, notFound, Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { atMost } from "#lib/time.ts";

/** Stripe waits two seconds, with the way there and back. */
const DECIDED_MS = 1_200;
/** A second, for each connection: all of Stripe comes from a few addresses, and a refusal hands the decision to a setting at Stripe. */
const EVENTS = 500;

const perConnection = () => perProcess("cards/receive-card-event", () => createBuckets("connection", EVENTS));

type Reply = { readonly approved: boolean; readonly metadata: Record<string, string> };

const replyOf = ({ approved, reason, authorizationId }: CardDecision): Reply => ({
  approved,
  metadata: { reason, ...(authorizationId !== null && { authorizationId }) },
});

const TOO_LATE = Symbol("too late");

/** A wrong signature counts against the address, so that nobody but Stripe uses up what a connection may send. */
async function verified(connectionId: string, text: string, request: Request): Promise<ConnectionRow> {
  const connection = await findCardConnection(database(), connectionId);
  const header = request.headers.get("stripe-signature") ?? "";
  const isStripe = connection !== null && isSignedByStripe(Buffer.from(text), header, secretsOf(connection), new Date());
  if (isStripe) return connection;
  requireAllowed(takeAddress(request));
  if (!connection) throw notFound("connection");
  throw new Problem("forbidden", {
    detail:
      "The signature is not that of this connection's endpoint at Stripe, or it is older than five minutes. If the endpoint has another secret, replace that of the connection.",
  });
}

/** Every failure declines a request: Stripe would otherwise decide by a setting. */
async function decided(connection: ConnectionRow, event: Extract<CardEvent, { kind: "request" }>, requestId: string) {
  if (event.isLive !== (connection.environment === "production")) return cardDeclined("other_environment");
  return decideRequest(connection, event.eventId, event.request, requestId);
}

async function answerOf(connection: ConnectionRow, text: string, requestId: string): Promise<Answer> {
  const event = readStripeEvent(text);
  if (event.kind === "request") return decided(connection, event, requestId);
  const isOwn = event.isLive === (connection.environment === "production");
  if (event.kind === "told" && isOwn) await followCard(connection, event.told, requestId);
  return null;
}

/** Null for an event that asks nothing. */
type Answer = CardDecision | null;

/** What was decided after the answer is held until Stripe tells, which it may have done before. */
async function followLate(decision: Promise<Answer>): Promise<void> {
  const { authorizationId = null } = (await decision) ?? {};
  const card = authorizationId === null ? null : await cardOfPayment(database(), authorizationId);
  if (card) await followAgain(card);
}

export const receiveCardEvent: Handler<typeof contract.receiveCardEvent> = async (
  { connectionId, body },
  { request, requestId },
) => {
  const text = String(body);
  const isRequest = looksLikeRequest(text);
  const work = async (): Promise<Answer> => {
    const connection = await verified(connectionId, text, request);
    try {
      requireAllowed(perConnection()(connectionId));
      return await answerOf(connection, text, requestId);
    } catch (error) {
      if (!isRequest) throw error;
      if (!isProblem(error)) log().error({ requestId, err: error }, "A request of a card was not decided");
      return cardDeclined(isProblem(error) ? error.code : "internal_error");
    }
  };
  const answer = work();
  const answered = isRequest ? await atMost(answer, DECIDED_MS, TOO_LATE) : await answer;
  if (answered !== TOO_LATE) return answered ? replyOf(answered) : { received: true };
  followLate(answer).catch((err: unknown) => log().warn({ requestId, err }, "What a card holds was not followed"));
  return replyOf(cardDeclined("too_late"));
};
