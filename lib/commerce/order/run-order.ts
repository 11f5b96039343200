import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { quoteAndDecide, requireLease } from "#lib/commerce/order/quote-order.ts";
import { loadOrderFacts, proves } from "#lib/commerce/order/load-order-facts.ts";
import { redeem, supersede } from "#lib/commerce/order/redeem-order.ts";
import { isTerminal, nextStep, type OrderState } from "#lib/commerce/order/order-state.ts";
import {
  changeOrder,
  endLease,
  forgetOrder,
  leaseLeft,
  leaseOrder,
  sealOrder,
  type OrderRow,
} from "#lib/commerce/order/order-store.ts";
import type { OrderCall, StepResult } from "#lib/commerce/order/order-call.ts";
import { adopt, followOrder, pay } from "#lib/commerce/order/pay-order.ts";
import { PlacedOrder } from "#lib/commerce/order/placed-order-schema.ts";
import { presentOrder } from "#lib/commerce/order/present-order.ts";
import { database } from "#lib/db/client.ts";
import { claimSlot } from "#lib/command/idempotency-store.ts";
import { inFlight, replay } from "#lib/command/idempotency.ts";
import { storedReply, type StoredReply } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { findMandate, reading } from "#lib/mandates/store.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import { Problem } from "#lib/problem.ts";
import { credentialHash } from "#lib/x402/credential.ts";

/** When the lease ends, another call or a worker can take over the order. */
const LEASE_MS = 90_000;
/** A run begins steps and waits for offers only in the first half of its lease, so that its last step ends in the second half. */
const STEPS_MS = LEASE_MS / 2;
const WAIT_MS = 1_000;
const ASK_EVERY_MS = 50;
const STEPS_MAX = 5;

export function credentialOf(text: string | undefined): OrderCall["credential"] {
  if (text === undefined) return null;
  return { text, hash: credentialHash(text) };
}

/** Waits for up to a second while another call has the lease. @throws Problem idempotency_in_flight */
async function take(order: OrderRow, lease: string): Promise<OrderRow> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const leased = await leaseOrder(database(), order.orderId, lease, LEASE_MS);
    if (leased) return leased;
    if (performance.now() >= until) throw inFlight(await leaseLeft(database(), order.orderId));
    await pause(ASK_EVERY_MS);
  }
}

/** If it throws, the order stores no answer. @throws Problem forbidden, idempotency_in_flight, and the problems of the steps */
export async function runOrder(
  order: OrderRow,
  asked: Omit<OrderCall, "lease" | "until">,
  stepsMs = STEPS_MS,
): Promise<StoredReply> {
  const { credential } = asked;
  if (order.subjectId !== asked.caller.subjectId)
    throw new Problem("forbidden", { detail: "Only the agent that placed this order may continue it." });
  const slot = credential && createHash("sha256").update(`${order.slot}\ncredential\n${credential.hash}`).digest("base64url");
  const idempotency = slot && credential ? { key: order.idempotencyKey, slot, fingerprint: credential.hash } : null;
  const earlier = idempotency && (await replay(idempotency));
  if (earlier) return earlier;
  if (order.body !== null && !credential) return storedReply(200, order.body, true);
  const lease = newId("request");
  const leased = await take(order, lease);
  const on: OrderCall = { ...asked, lease, until: performance.now() + stepsMs };
  try {
    const stepped = await advance(leased, on);
    return await answer(stepped, on, idempotency);
  } catch (error) {
    // An order that is still `new` is deleted, so the agent can use the idempotency key again, even with a different body.
    await forgetOrder(database(), order.orderId, on.lease);
    throw error;
  } finally {
    await endLease(database(), order.orderId, on.lease);
  }
}

async function advance(first: OrderRow, on: OrderCall): Promise<StepResult> {
  let stepped: StepResult = { order: first, goOn: true };
  for (let steps = 0; stepped.goOn && steps < STEPS_MAX; steps++) {
    if (steps > 0 && performance.now() >= on.until) break;
    const { order } = stepped;
    const { facts, execution, now } = await loadOrderFacts(order, on);
    const step = nextStep(facts, now);
    if (step === "show") return { order, goOn: false };
    if (step === "quote") stepped = stopUnlessPaying(await quoteAndDecide(order, on));
    else if (step === "redeem") stepped = stopUnlessPaying(await redeem(order, on));
    else if (step === "supersede") stepped = await supersede(order, on);
    else if (step === "pay") stepped = await pay(order, on);
    else if (step === "adopt" && execution) stepped = await adopt(order, on, execution);
    else if (step === "follow") stepped = await followOrder(order, on);
    else if (step === "reject") stepped = { order: await become(order, on, "denied"), goOn: false };
    else stepped = { order: await become(order, on, "paymentCredentialRequired"), goOn: true };
  }
  return stepped;
}

/** After a decision, continue with the next step only if the order waits for its payment. */
const stopUnlessPaying = (stepped: StepResult): StepResult => ({
  ...stepped,
  goOn: stepped.goOn && stepped.order.status === "paymentCredentialRequired",
});

const become = async ({ orderId }: OrderRow, { lease }: OrderCall, status: OrderState): Promise<OrderRow> =>
  requireLease(await changeOrder(database(), orderId, lease, { status }));

type Slot = { readonly slot: string; readonly fingerprint: string } | null;

/** The answer is stored if the order has ended, or if the signed payment in this call was refused. */
async function answer({ order, refused }: StepResult, on: OrderCall, slot: Slot): Promise<StoredReply> {
  const { authorizationId, orderId, mandateId } = order;
  const authorization = authorizationId === null ? null : await findAuthorization(database(), on.caller, authorizationId);
  const mandate = await reading((tx) => findMandate(tx, on.caller, mandateId));
  const hasWallet = mandate !== null && mandate.walletAddress !== null;
  const paymentMode = (await proves(order, on.caller)) ? ("service7702" as const) : ("eip3009" as const);
  const rendered = presentOrder({ order, authorization, hasWallet, paymentMode, refused: refused ?? null, url: on.url });
  const text = JSON.stringify(PlacedOrder.parse(rendered));
  const over = isTerminal(order.status as OrderState);
  const body = over ? await sealOrder(database(), orderId, text) : text;
  if (slot && (over || refused)) await database().transaction((tx) => claimSlot(tx, { ...slot, status: 200, body }));
  return storedReply(200, body, false);
}
