import { beforeAll, expect } from "vitest";
import * as contract from "#lib/cards/contract.ts";
import { connectCards } from "#lib/cards/connect-cards.ts";
import { setCard } from "#lib/cards/set-card.ts";
import { env } from "#lib/env.ts";
import { dispatch } from "#lib/server/entry.ts";
import { activeMandate, createBuyer, type Buyer } from "#test/mandates.ts";
import { proved } from "#test/proofs.ts";
import { createAgent, send, type Credential } from "#test/tenant.ts";
import { USD } from "#test/recording.ts";
import { eventOf, newId, SECRET, signedByStripe, type EventFields } from "#test/stripe-events.ts";

export { authorization, eventOf, newId, request, signedByStripe, transaction } from "#test/stripe-events.ts";

/** A policy in USD for cards at any merchant. */
export const cardPolicy = (total: string, more: Record<string, unknown> = {}) => ({
  unit: "USD",
  assets: [{ ...USD, counts: "1" }],
  rails: ["card"],
  cards: {},
  limits: { perPayment: total, total },
  ...more,
});

export type CardReply = { readonly approved?: boolean; readonly received?: true; readonly metadata?: Record<string, string> };
type Sent = { readonly status: number; readonly data: CardReply; readonly headers: Headers };

/** Calls the endpoint as Stripe does. */
export async function fromStripe(
  connectionId: string,
  type: string,
  object: unknown,
  { secret, text, ...event }: EventFields & { readonly secret?: string; readonly text?: string } = {},
): Promise<Sent> {
  const payload = text ?? JSON.stringify(eventOf(type, object, event));
  const headers = { "content-type": "application/json; charset=utf-8", ...signedByStripe(payload, secret) };
  const url = `${env().BASE_URL}/api/v1/rails/stripe/${connectionId}`;
  const response = await dispatch(new Request(url, { method: "POST", headers, body: payload }));
  return { status: response.status, headers: response.headers, data: (await response.json()) as CardReply };
}

/** Connects a Stripe account with this secret. Returns the id of the connection. */
export async function connectStripe(person: Credential): Promise<string> {
  const { status, data, problem } = await proved(person, () =>
    send(contract.connectCards, connectCards, { as: person, body: { name: "Our account", webhookSecret: SECRET } }),
  );
  expect(status, JSON.stringify(problem)).toBe(201);
  return data.connectionId;
}

type Mapped = { readonly mandateId: string; readonly serviceAccountId: string };

/** Lets a new card pay under a mandate. Returns its id. */
export async function mapCard(person: Credential, connectionId: string, mapped: Mapped): Promise<string> {
  const cardId = newId("ic");
  const { status, problem } = await proved(person, () =>
    send(contract.setCard, setCard, { as: person, id: [connectionId, cardId], body: { name: "A card", ...mapped } }),
  );
  expect(status, JSON.stringify(problem)).toBe(200);
  return cardId;
}

/** A buyer with an agent and a connected Stripe account. Call once per file. */
export function useCards() {
  const at = {} as { buyer: Buyer; agent: Credential; serviceAccountId: string; connectionId: string; person: Credential };
  beforeAll(async () => {
    at.buyer = await createBuyer();
    at.person = at.buyer.person.credential;
    const agent = await createAgent(at.buyer.organizationId, ["payments:authorize", "payments:execute", "payments:read"]);
    [at.agent, at.serviceAccountId] = [agent.credential, agent.serviceAccountId];
    at.connectionId = await connectStripe(at.person);
  });
  const map = (mandateId: string) => mapCard(at.person, at.connectionId, { mandateId, serviceAccountId: at.serviceAccountId });
  const mandateFor = (total: string, more?: Record<string, unknown>) =>
    activeMandate(at.person, { policy: cardPolicy(total, more) });
  return {
    at,
    map,
    mandateFor,
    async purchase(total = "100", more?: Record<string, unknown>) {
      const mandateId = await mandateFor(total, more);
      return { mandateId, cardId: await map(mandateId), iauth: newId("iauth") };
    },
    send: (type: string, object: unknown, options?: Parameters<typeof fromStripe>[3]) =>
      fromStripe(at.connectionId, type, object, options),
  };
}
