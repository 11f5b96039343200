import { createHash } from "node:crypto";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { requireLease } from "#lib/commerce/order/quote-order.ts";
import type { Offer } from "#lib/commerce/order/offer.ts";
import { stateAfterPaying } from "#lib/commerce/order/order-state.ts";
import { changeOrder, type OrderRow } from "#lib/commerce/order/order-store.ts";
import { lockCheckoutOf, setCheckoutStatus } from "#lib/approvals/store.ts";
import type { LeaseHolder, OrderCall, StepResult } from "#lib/commerce/order/order-call.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { isStoredReply } from "#lib/http/operation.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { authorizationOf, executionsOf, findExecution, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { isProblem } from "#lib/problem.ts";
import { investigate, stillAdmits } from "#lib/settlement/reconcile.ts";
import { payCheckout, type PaidCheckout } from "#lib/storefront/pay-checkout.ts";
import { atMost } from "#lib/time.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";
import { paymentSignatureHeader } from "#lib/x402/requirements.ts";

/** The longest wait of an order for the chain. It is shorter than the rest of the lease; the reconciler asks again later. */
const LOOK_MS = 20_000;

type ExecutionReply = {
  readonly executionId?: string;
  readonly paymentCredentialHash?: string;
  readonly code?: string;
  readonly instance?: string;
};

/** Names an attempt to pay: by the hash of the signed payment or, if the service signs, by the number of executions so far. */
const attemptOf = async (authorizationId: string, credential: OrderCall["credential"]): Promise<string> =>
  credential ? credential.hash : `proof-${(await executionsOf(database(), [authorizationId])).length}`;

/** If the payment is refused or fails at once, the order keeps its state. */
export async function pay(order: OrderRow, on: OrderCall): Promise<StepResult> {
  const { credential, caller, requestId, request } = on;
  const { authorizationId, orderId } = order;
  if (authorizationId === null) throw new Error("An order is paid under its authorization.");
  const attempt = await attemptOf(authorizationId, credential);
  const key = `${orderId}.${attempt.slice(0, 32)}`;
  const slot = createHash("sha256").update(`${order.slot}\nexecute\n${attempt}`).digest("base64url");
  const body = { authorizationId, idempotencyKey: key, paymentCredential: credential?.text };
  const idempotency = { key, slot, fingerprint: attempt };
  // Schedule checks of the order before anything is sent: if this process dies, a worker continues the order.
  requireLease(await changeOrder(database(), orderId, on.lease, {}, true));
  const reply = await executePayment({ body }, { caller, requestId, request, idempotency });
  if (!isStoredReply(reply)) throw new Error("An execution is answered with stored bytes.");
  const said = JSON.parse(reply.body) as ExecutionReply;
  if (reply.status !== 200) {
    const executionId = said.instance?.split("/").at(-1) ?? "";
    await changeOrder(database(), orderId, on.lease, {}, false);
    return { order, goOn: false, refused: { executionId, code: said.code ?? "verification_failed" } };
  }
  const credentialHash = said.paymentCredentialHash ?? null;
  const change = { status: "processing", executionId: said.executionId ?? "", credentialHash };
  return { order: requireLease(await changeOrder(database(), orderId, on.lease, change, true)), goOn: true };
}

/** `execution` was started by an executePayment call of the agent, or by an interrupted call about this order. */
export async function adopt(order: OrderRow, on: LeaseHolder, execution: ExecutionRow): Promise<StepResult> {
  const change = { status: "processing", executionId: execution.executionId, credentialHash: execution.credentialHash };
  return { order: requireLease(await changeOrder(database(), order.orderId, on.lease, change, true)), goOn: true };
}

/** Sends the signed payment to the storefront, if that is still needed and allowed, and reads the result of the payment. */
export async function followOrder(order: OrderRow, on: LeaseHolder): Promise<StepResult> {
  const { executionId, offer } = order;
  const execution = executionId && (await findExecution(database(), on.caller, executionId));
  if (!execution || !offer) throw new Error("An order that was paid has no execution.");
  const said = order.answer ?? ((await maySend(execution)) ? await send(offer as Offer, execution) : null);
  const answered =
    said && said !== order.answer ? await changeOrder(database(), order.orderId, on.lease, { answer: said }) : order;
  const settlement = await settle(execution);
  const state = stateAfterPaying({ settlement, storefront: said?.outcome ?? null });
  if (state === "processing") {
    requireLease(answered);
    return { order: requireLease(await changeOrder(database(), order.orderId, on.lease, {}, true)), goOn: false };
  }
  return { order: await finish(requireLease(answered), on, state), goOn: false };
}

type Answer = NonNullable<OrderRow["answer"]>;

/** A settled payment cannot move money again. One that is not settled is sent only if the mandate still admits it. */
const maySend = async (execution: ExecutionRow): Promise<boolean> =>
  execution.settlementStatus === "settled" || stillAdmits(execution, await authorizationOf(database(), execution));

/** Null if nothing is sent, or if the storefront gave no final answer, so that the same request is sent again later. */
async function send(offer: Offer, execution: ExecutionRow): Promise<Answer | null> {
  const paymentSignature = execution.credentialHeaders?.[paymentSignatureHeader];
  if (paymentSignature === undefined || execution.settlementStatus === "failed") return null;
  const call = { quoteId: offer.quote.quoteId, idempotencyKey: offer.checkoutKey, paymentSignature };
  try {
    return answerOf(await payCheckout(offer.storefront, call));
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
}

function answerOf({ outcome, order }: PaidCheckout): Answer | null {
  if (outcome === "unknown") return null;
  return {
    outcome,
    orderId: order?.id ?? null,
    status: order?.status ?? null,
    permalinkUrl: order?.permalinkUrl ?? null,
  };
}

/** The seller settles a "pending" payment, so the chain is asked; if the chain does not answer, a worker asks it later. */
async function settle(execution: ExecutionRow): Promise<SettlementStatus> {
  if (execution.settlementStatus !== "pending") return execution.settlementStatus as SettlementStatus;
  try {
    const finding = await atMost(investigate(execution, await authorizationOf(database(), execution)), LOOK_MS, null);
    if (!finding) return execution.settlementStatus;
    const { executionId, mandateId } = execution;
    const resolved = await transact((tx) => resolveExecution(tx, executionId, mandateId, finding));
    return resolved.settlementStatus as SettlementStatus;
  } catch (error) {
    log().warn(
      { executionId: execution.executionId, error },
      "The chain did not answer about an order; the reconciler checks it later",
    );
    return execution.settlementStatus;
  }
}

async function finish(order: OrderRow, on: LeaseHolder, status: Exclude<ReturnType<typeof stateAfterPaying>, "processing">) {
  return transact(async (tx) => {
    const now = await clock(tx);
    const checkout = order.authorizationId === null ? null : await lockCheckoutOf(tx, order.authorizationId);
    if (checkout?.status === "executing") await setCheckoutStatus(tx, checkout.checkoutIntentId, status, now);
    const changed = requireLease(await changeOrder(tx, order.orderId, on.lease, { status }, false));
    const { orderId, organizationId, subjectId, executionId, authorizationId, answer } = changed;
    const metadata = { requestId: on.requestId, executionId, authorizationId, storefrontOrderId: answer?.orderId ?? null };
    const event = {
      type: `order.${status}`,
      actorId: subjectId,
      organizationId,
      subjectId,
      entityType: "order",
      entityId: orderId,
    };
    audit(tx, { ...event, metadata }, now);
    return changed;
  });
}
