import { eq, inArray } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { route } from "#lib/api/route.ts";
import { authorizePayment as handler } from "#lib/payments/authorize-payment.ts";
import { authorizePayment as operation } from "#lib/payments/contract.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import { answerOf } from "#lib/holds/render-answer.ts";
import { authorizationColumns } from "#lib/holds/authorization-store.ts";
import { authorizations, reservations } from "#lib/holds/tables.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { intentFor, type Buyer } from "#test/mandates.ts";
import type { Credential } from "#test/tenant.ts";

/* Sends authorize requests, and reads the rows that they wrote and the bytes of the replies. */

export type AuthorizeReply = {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  readonly headers: Headers;
  readonly data: Authorization;
  readonly problem: ErrorBody;
};

const served = route(operation, handler);

/** Sends a body to authorizePayment through its HTTP route. */
export async function post(body: unknown, headers: Credential = {}): Promise<AuthorizeReply> {
  const request = new Request(`${env().BASE_URL}${operation.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const response = await served(request);
  const text = await response.text();
  const json: unknown = JSON.parse(text);
  return {
    status: response.status,
    text,
    replayed: response.headers.get("idempotent-replayed") === "true",
    headers: response.headers,
    data: json as Authorization,
    problem: json as ErrorBody,
  };
}

/** A new payment intent of the buyer with its own idempotency key. */
export function newIntent(buyer: Buyer, change: Record<string, unknown> = {}) {
  const intent = intentFor(buyer, "0.5");
  return { ...intent, idempotencyKey: `k-${intent.intentId}`, ...change };
}

export const ask = (buyer: Buyer, mandateId: string, change: Record<string, unknown> = {}, as = buyer.agent.credential) =>
  post({ mandateId, intent: newIntent(buyer, change) }, as);

/** The row of an authorization, with the body that a retry would get. Null if there is none. */
export async function storedOf(authorizationId: string) {
  const [row] = await database()
    .select(authorizationColumns)
    .from(authorizations)
    .where(eq(authorizations.authorizationId, authorizationId));
  return row ? { ...row, answer: answerOf(row) } : null;
}

export const holdsOf = (mandateId: string) => database().select().from(reservations).where(eq(reservations.mandateId, mandateId));

export const authorizationsOf = (mandateId: string) =>
  database().select().from(authorizations).where(eq(authorizations.mandateId, mandateId));

/** The bodies that retries of all authorizations under these mandates would get, sorted. */
export async function storedAnswers(...mandateIds: readonly string[]): Promise<string[]> {
  const rows = await database().select().from(authorizations).where(inArray(authorizations.mandateId, mandateIds));
  return rows.map(answerOf).toSorted();
}

/** The number of replies by outcome or by problem code. */
export function outcomes(answers: readonly AuthorizeReply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, data, problem } of answers) {
    const name = status === 200 ? data.policyDecision.outcome : problem.code;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
