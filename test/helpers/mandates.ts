import { eq } from "drizzle-orm";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import * as contract from "#lib/mandates/contract.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import { authorizePayment as authorizeOperation } from "#lib/payments/contract.ts";
import { ageAllowance, proved } from "#test/proofs.ts";
import { createAgent, createOrganization, createPerson, createResource, send, type Credential } from "#test/tenant.ts";

export const CHAIN = "eip155:84532";
export const assets = [{ asset: "USDC", chain: CHAIN }];
/** 1 USDC per payment, 5 per day. */
export const policy = { assets, limits: { perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount: "5" }] } };

/** A buyer with a person and an agent, a resource to pay for, and `foreign`, the session of a person of another organization. */
export async function createBuyer({ price = "0.5" } = {}) {
  const organizationId = await createOrganization("Buyer");
  const person = await createPerson(organizationId);
  const agent = await createAgent(organizationId, ["payments:authorize", "mandates:read"]);
  const foreign = await createPerson(await createOrganization("Other"));
  const resource = await createResource(await createOrganization("Shop"), price);
  return { organizationId, person, agent, foreign: foreign.credential, resource };
}
export type Buyer = Awaited<ReturnType<typeof createBuyer>>;

export async function draftMandate(as: Credential, body: Record<string, unknown> = {}) {
  const { status, data, problem } = await send(contract.createMandate, createMandate, {
    as,
    body: { name: "Test", policy, ...body },
  });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(problem)}`);
  return data;
}

/** A mandate that was activated with a proof of identity two days ago, so that it does not count in the sum of 24 hours. */
export async function activeMandate(as: Credential, body: Record<string, unknown> = {}): Promise<string> {
  const { mandateId } = await draftMandate(as, body);
  const { status } = await proved(as, () => send(contract.activateMandate, activateMandate, { as, id: mandateId }));
  if (status !== 200) throw new Error(`activate answered ${status}`);
  await ageAllowance(mandateId);
  return mandateId;
}

/** Creates an organization whose audit chain has this many events. */
export async function chainOfEvents(count: number): Promise<string> {
  const { organizationId, person } = await createBuyer();
  for (let made = 0; made < count; made += 1) await draftMandate(person.credential);
  return organizationId;
}

let count = 0;

/** A new intent of the buyer to pay for the resource. */
export function intentFor({ resource }: Pick<Buyer, "resource">, amount: string) {
  const { sellerId, resourceId } = resource;
  const name = `i-${++count}`;
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  return { intentId: name, seller: { sellerId }, resource: { resourceId }, amount, asset: "USDC", expiresAt, nonce: name };
}

type Payer = Pick<Buyer, "resource"> & { readonly agent: { readonly credential: Credential } };

export async function authorize(buyer: Payer, mandateId: string, amount = "0.5") {
  const intent = { ...intentFor(buyer, amount), idempotencyKey: `key-${count}` };
  const { status, data, problem } = await send(authorizeOperation, authorizePayment, {
    as: buyer.agent.credential,
    body: { mandateId, intent },
  });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(problem)}`);
  return data;
}

export async function eventsOf(entityId: string) {
  const rows = await database()
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.entityId, entityId))
    .orderBy(auditEvents.sequence);
  return rows.map(({ type, actorId, metadata }) => ({ type, actorId, metadata: metadata as Record<string, unknown> }));
}
