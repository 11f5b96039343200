import { createAgent } from "#test/tenant.ts";
import { newIntent } from "#test/asking.ts";
import { items, view } from "#test/checkouts.ts";
import type { Node } from "./installation.ts";
import { keyOf, newTight, TIGHT, tightPolicy, type Scene, type Tight } from "./scene.ts";
import type { Reply, Wire } from "./wire.ts";
import { PASSWORD } from "#test/identity.ts";
import { signedOrder } from "#test/orders.ts";
import { expectedOf, signed } from "#test/payments.ts";

export type Random = () => number;

/** What clients do. An act sends a few requests to one server and notes in the wire what no fault can explain. */
export type Act = (at: {
  readonly wire: Wire;
  readonly scene: Scene;
  readonly node: Node;
  readonly random: Random;
}) => Promise<Reply>;

/** For an act that has nothing to do, or whose part in this process met the fault itself. */
const nothing: Reply = { status: 200, text: "" };

const API = "/api/v1";
const AUTHORIZE = `${API}/payments/authorize`;
const json = (reply: Reply) => JSON.parse(reply.text) as Record<string, unknown>;
const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)]!;
const outcomeOf = (reply: Reply): unknown => (json(reply)["policyDecision"] as { outcome: unknown }).outcome;

export const authorize: Act = async ({ wire, scene, node, random }) => {
  const body = JSON.stringify({ mandateId: pick(scene.wide, random), intent: newIntent(scene.buyer, { amount: "0.01" }) });
  const sent = { path: AUTHORIZE, as: scene.buyer.agent.credential, body };
  const reply = await wire.send(node, "authorize", sent);
  if (reply.status === 200) wire.acknowledged.push({ ...sent, text: reply.text });
  return reply;
};

export const readSession: Act = ({ wire, scene, node }) =>
  wire.send(node, "session", { path: `${API}/auth/session`, as: scene.buyer.person.credential });

export const repeat: Act = async ({ wire, node, random }) => {
  if (wire.acknowledged.length > 0) await wire.repeat(node, pick(wire.acknowledged, random), false);
  return nothing;
};

export const pay: Act = async ({ wire, scene: { scene, paying, wallet }, node, random }) => {
  const name = `x-${crypto.randomUUID()}`;
  const [as, { seller }] = [scene.agent.credential, scene];
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  const intent = { intentId: name, nonce: name, idempotencyKey: name, expiresAt, amount: seller.price, asset: "USDC" };
  const asked = { ...intent, seller: { sellerId: seller.sellerId }, resource: { resourceId: seller.resourceId } };
  const body = JSON.stringify({ mandateId: pick(paying, random), intent: asked });
  const allowed = await wire.send(node, "authorize", { path: AUTHORIZE, as, body });
  if (allowed.status !== 200) return allowed;
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const { authorizationId } = json(allowed);
  const execution = JSON.stringify({ authorizationId, idempotencyKey: `${name}-pay`, paymentCredential });
  return wire.send(node, "execute", { path: `${API}/payments/execute`, as, body: execution });
};

/** A new tight mandate; null if a fault prevented it. */
async function openTight({ wire, scene, node }: Parameters<Act>[0]): Promise<Tight | null> {
  const as = scene.buyer.person.credential;
  const draft = JSON.stringify({ name: "Tight", policy: tightPolicy() });
  const made = await wire.send(node, "create a mandate", { path: `${API}/mandates`, as, body: draft });
  if (made.status !== 201) return null;
  const { mandateId } = json(made) as { mandateId: string };
  const active = await wire.send(node, "activate a mandate", { path: `${API}/mandates/${mandateId}/activate`, as, body: "{}" });
  return active.status === 200 ? newTight(mandateId) : null;
}

/** Pays under one of three tight mandates until they are used up or closed, and then opens others. */
export const payTight: Act = async (at) => {
  const { wire, scene, node, random } = at;
  const slot = Math.floor(random() * 3);
  const mandate = scene.tight[slot]!;
  if (mandate.refused > 4) {
    const opened = await openTight(at);
    if (opened) scene.tight[slot] = opened;
    return nothing;
  }
  const began = performance.now();
  const body = JSON.stringify({ mandateId: mandate.mandateId, intent: newIntent(scene.buyer, { amount: "0.01" }) });
  const sent = { path: AUTHORIZE, as: scene.buyer.agent.credential, body };
  const reply = await wire.send(node, "tight", sent);
  if (reply.status !== 200) return reply;
  wire.acknowledged.push({ ...sent, text: reply.text });
  if (outcomeOf(reply) !== "allow") mandate.refused += 1;
  else if (++mandate.allowed > TIGHT) wire.wrong.push(`${mandate.mandateId} allowed ${mandate.allowed} payments`);
  else if (began > mandate.closedAt) wire.wrong.push(`${mandate.mandateId} allowed a payment after it was closed`);
  return reply;
};

/** Revokes, suspends or narrows a tight mandate. After the answer, no later request may be allowed under it. */
export const closeTight: Act = async ({ wire, scene, node, random }) => {
  const mandate = scene.tight[Math.floor(random() * 3)]!;
  const as = scene.buyer.person.credential;
  const path = `${API}/mandates/${mandate.mandateId}`;
  const kind = random();
  if (kind < 0.4) {
    const narrow = JSON.stringify({ policy: tightPolicy(1 + Math.floor(random() * (TIGHT - 1))) });
    return wire.send(node, "narrow a mandate", { path, as, body: narrow, method: "PATCH" });
  }
  const step = kind < 0.7 ? "revoke" : "suspend";
  const reply = await wire.send(node, `${step} a mandate`, { path: `${path}/${step}`, as, body: "{}" });
  if (reply.status === 200) mandate.closedAt = Math.min(mandate.closedAt, performance.now());
  return reply;
};

/** Gives a service account a new key. After the answer the old one is refused by every server. */
export const rotate: Act = async ({ wire, scene: { owner, rotated }, node }) => {
  const [{ agent }, old] = [rotated, rotated.key];
  const path = `${API}/auth/service-accounts/${agent.serviceAccountId}/rotate`;
  // Another client must not rotate at the same time, because it would end the key that this one is given.
  rotated.key = null;
  if (old === null) return nothing;
  const reply = await wire.send(node, "rotate a key", { path, as: owner.credential, body: "{}" });
  const events = { path: `${API}/audit/events?limit=1` };
  if (reply.status === 200) {
    const { apiKey } = json(reply) as { apiKey: string };
    await wire.send(node, "use a rotated key", { ...events, as: keyOf(old) });
    await wire.send(node, "use a key", { ...events, as: keyOf(apiKey) });
    rotated.key = apiKey;
  } else rotated.key = "lost";
  return reply;
};

/** An agent asks, and a person opens the page, proves their identity and approves. */
export const approve: Act = async ({ wire, scene: { owner, asking, buyer }, node }) => {
  // Each question comes from a new agent, because one agent may open only 30 an hour.
  const agent = await createAgent(owner.organizationId, ["payments:authorize", "mandates:read"]).catch(() => null);
  if (agent === null) return nothing;
  const intent = newIntent(buyer, { amount: "0.01" });
  const sent = { path: AUTHORIZE, as: agent.credential, body: JSON.stringify({ mandateId: asking, intent }) };
  const asked = await wire.send(node, "ask", sent);
  if (asked.status !== 200) return asked;
  wire.acknowledged.push({ ...sent, text: asked.text });
  const { policyDecision } = json(asked) as { policyDecision: { reasons: { checkoutIntentId?: string }[] } };
  const checkoutIntentId = policyDecision.reasons.find((reason) => reason.checkoutIntentId)?.checkoutIntentId ?? "";
  const shown = await view(checkoutIntentId, owner.credential).catch(() => null);
  if (shown === null) return nothing;
  const proof = JSON.stringify({ checkoutIntentId, password: PASSWORD });
  const proved = await wire.send(node, "prove the identity", { path: `${API}/auth/step-up`, as: owner.credential, body: proof });
  if (proved.status !== 200) return proved;
  const path = `${API}/agent/commerce/checkouts/${checkoutIntentId}/approve`;
  return wire.send(node, "approve", { path, as: owner.credential, body: "{}" });
};

/** An agent places an order at a shop, which settles the payment itself. */
export const order: Act = async ({ wire, scene: { orders, wallet }, node }) => {
  const placed = { path: `${API}/agent/commerce/place-order`, as: orders.agent.credential };
  const body = {
    storefrontUrl: orders.storefrontUrl,
    mandateId: orders.mandateId,
    items,
    idempotencyKey: `o-${crypto.randomUUID()}`,
  };
  const first = await wire.send(node, "order", { ...placed, body: JSON.stringify(body) });
  if (first.status !== 200) return first;
  const data = json(first) as { paymentRequired?: Record<string, string> };
  if (data.paymentRequired === undefined) return first;
  const paymentCredential = await signedOrder(wallet, { data });
  const paid = { ...placed, body: JSON.stringify({ ...body, paymentCredential }) };
  const reply = await wire.send(node, "order", paid);
  if (reply.status === 200 && json(reply)["status"] === "completed") wire.acknowledged.push({ ...paid, text: reply.text });
  return reply;
};

/** The same question by MCP, with JSON-RPC as a client without a session sends it. */
export const mcp: Act = ({ wire, scene: { buyer, wide }, node, random }) => {
  const { sellerId, resourceId } = buyer.resource;
  const intent = { seller: { sellerId }, resource: { resourceId }, amount: "0.01", asset: "USDC" };
  const args = { mandateId: pick(wide, random), intent, purpose: `Report ${crypto.randomUUID()}` };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "authorize_payment", arguments: args } };
  const as = { ...buyer.agent.credential, accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
  return wire.send(node, "mcp", { path: "/mcp", as, body: JSON.stringify(call) });
};

/** How often clients do what, in parts of 100. */
export const acts: readonly (readonly [share: number, act: Act])[] = [
  [44, authorize],
  [14, payTight],
  [14, repeat],
  [12, readSession],
  [9, pay],
  [2, closeTight],
  [2, mcp],
  [1, rotate],
  [1, approve],
  [1, order],
];
