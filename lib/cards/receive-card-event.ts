import { findCardConnection, type ConnectionRow } from "#lib/cards/connection-store.ts";
import type * as contract from "#lib/cards/contract.ts";
import { decideRequest, type CardDecision } from "#lib/cards/decide-request.ts";
import { followCard } from "#lib/cards/follow-card.ts";
import { secretsOf } from "#lib/cards/secrets.ts";
import { isSignedByStripe } from "#lib/cards/signature.ts";
import { looksLikeRequest, readStripeEvent, type CardEvent } from "#lib/cards/stripe-event.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { createBuckets, requireAllowed, takeAddress } from "#lib/http/rate-limit.ts";
import { notFound, Problem } from "#lib/problem.ts";
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

const tooLate: CardDecision = { approved: false, reason: "too_late", authorizationId: null };

/** A wrong signature counts against the address, so that nobody but Stripe uses up what a connection may send. */
async function verified(connectionId: string, text: string, request: Request): Promise<ConnectionRow> {
  const connection = await findCardConnection(database(), connectionId);
  const header = request.headers.get("stripe-signature") ?? "";
  const isStripe = connection !== null && isSignedByStripe(Buffer.from(text), header, secretsOf(connection), new Date());
  if (isStripe) return connection;
  requireAllowed(takeAddress(request));
  if (!connection) throw notFound("connection");
  throw new Problem("forbidden", {
    detail: "The signature is not that of this connection's endpoint at Stripe, or it is older than five minutes.",
  });
}

async function handle(connection: ConnectionRow, event: CardEvent, requestId: string) {
  if (event.kind === "request") return replyOf(await decideRequest(connection, event.eventId, event.request, requestId));
  if (event.kind === "told") await followCard(connection, event.told, requestId);
  return { received: true } as const;
}

/** What is decided after the answer is kept: Stripe then tells what has become of it, and the hold follows. */
export const receiveCardEvent: Handler<typeof contract.receiveCardEvent> = async (
  { connectionId, body },
  { request, requestId },
) => {
  const text = String(body);
  const work = async () => {
    const connection = await verified(connectionId, text, request);
    requireAllowed(perConnection()(connectionId));
    return handle(connection, readStripeEvent(text), requestId);
  };
  const answer = work();
  if (!looksLikeRequest(text)) return answer;
  answer.catch((err: unknown) => log().warn({ requestId, err }, "A request of a card was not decided"));
  return atMost(answer, DECIDED_MS, replyOf(tooLate));
};
