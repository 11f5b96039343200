import { confirmIdentity } from "#lib/identity/passkeys/contract.ts";
import { connectCards, setCard } from "#lib/cards/contract.ts";
import { call } from "#lib/http/client.ts";
import { createMandate } from "#lib/mandates/contract.ts";
import { PASSWORD, type Agent, type Owner } from "#test/identity.ts";
import { eventOf, newId, SECRET, signedByStripe } from "#test/stripe-events.ts";
import { localChainId } from "../../examples/chain.ts";
import { activate } from "./activate.ts";

const baseUrl = process.env["BASE_URL"] ?? "";

/** Calls the running service as Stripe does. */
export async function fromStripe(connectionId: string, type: string, object: unknown) {
  const body = JSON.stringify(eventOf(type, object));
  const headers = { "content-type": "application/json; charset=utf-8", ...signedByStripe(body) };
  const reply = await fetch(`${baseUrl}/api/v1/rails/stripe/${connectionId}`, { method: "POST", headers, body });
  if (reply.status !== 200) throw new Error(await reply.text());
  const { approved, metadata } = (await reply.json()) as { approved?: boolean; metadata?: Record<string, string> };
  return { approved, authorizationId: metadata?.["authorizationId"] ?? "" };
}

/** A mandate for x402 and for cards at merchants in the US, and a card under it. */
export async function newCard(
  { credential: headers }: Owner,
  { serviceAccountId }: Pick<Agent, "serviceAccountId">,
  name: string,
) {
  const as = { baseUrl, headers };
  await call(confirmIdentity, { body: { password: PASSWORD } }, as);
  const policy = {
    unit: "USD" as const,
    assets: [
      { asset: "USDC", chain: localChainId, counts: "1" },
      { asset: "USD", chain: "iso4217:USD", counts: "1" },
    ],
    rails: ["x402" as const, "card" as const],
    cards: { countries: ["US"] },
    limits: { perPayment: "500", total: "500" },
  };
  const { mandateId } = await call(createMandate, { body: { name, policy } }, as);
  await activate(mandateId, as);
  const { connectionId } = await call(connectCards, { body: { name, webhookSecret: SECRET } }, as);
  const cardId = newId("ic");
  await call(setCard, { connectionId, cardId, body: { name, mandateId, serviceAccountId } }, as);
  return { mandateId, connectionId, cardId };
}
