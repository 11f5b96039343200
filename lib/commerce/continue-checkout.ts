import { continuationHash } from "#lib/approvals/decision/continuation-token.ts";
import { offerOfCheckout } from "#lib/commerce/order/offer.ts";
import { continueCheckout as operation } from "#lib/commerce/order-contract.ts";
import { credentialOf, runOrder } from "#lib/commerce/order/run-order.ts";
import { findOrder, openOrder, type OrderRow } from "#lib/commerce/order/order-store.ts";
import type { OrderCall } from "#lib/commerce/order/order-call.ts";
import { findApprovalByToken, findCheckout, findSellerRecord } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { fingerprintOf, keyReused } from "#lib/command/idempotency.ts";
import type { Handler, Idempotency } from "#lib/http/operation.ts";
import { approvalTakenBack } from "#lib/holds/execution-rules.ts";
import { newId } from "#lib/ids.ts";
import { notFound, Problem } from "#lib/problem.ts";

/** The continuation token can be used only once; a call with the same idempotency key continues the same order. */
export const continueCheckout: Handler<typeof operation> = async (
  { checkoutIntentId, body },
  { caller, idempotency, requestId, request },
) => {
  if (!idempotency) throw new Error("The body's idempotencyKey is required.");
  const { continuationToken, paymentCredential } = body;
  const fingerprint = fingerprintOf(`${checkoutIntentId}\n${continuationHash(continuationToken)}`);
  const order =
    (await findOrder(database(), idempotency.slot)) ??
    (await openContinued({ checkoutIntentId, continuationToken, fingerprint, idempotency, caller }));
  if (order.fingerprint !== fingerprint) throw keyReused();
  const url = `${env().BASE_URL}${operation.path.replace("{checkoutIntentId}", checkoutIntentId)}`;
  return runOrder(order, { caller, requestId, request, credential: credentialOf(paymentCredential), url });
};

type Continue = {
  readonly checkoutIntentId: string;
  readonly continuationToken: string;
  readonly fingerprint: string;
  readonly idempotency: Idempotency;
  readonly caller: OrderCall["caller"];
};

const ended = (): Problem =>
  new Problem("continuation_expired", { detail: "This continuation token has expired or was used. Ask the buyer again." });

async function openContinued({
  checkoutIntentId,
  continuationToken,
  fingerprint,
  idempotency,
  caller,
}: Continue): Promise<OrderRow> {
  const db = database();
  const checkout = await findCheckout(db, caller, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  const approval = await findApprovalByToken(db, caller, continuationHash(continuationToken));
  if (!approval) throw ended();
  if (approval.checkoutIntentId !== checkoutIntentId || approval.agentId !== caller.subjectId) {
    throw new Problem("approval_basket_mismatch", { detail: "This continuation token belongs to another checkout or agent." });
  }
  if (approval.takenBackBySubjectId !== null) throw approvalTakenBack();
  if (approval.status !== "pending" || approval.mandateId === null || approval.authorizationId === null) throw ended();
  const offer = offerOfCheckout(checkout, checkout.sellerId === null ? null : await findSellerRecord(db, checkout.sellerId));
  if (!offer) {
    throw new Problem("checkout_closed", { detail: "This checkout is a payment, not an order: execute its authorization." });
  }
  return openOrder(db, {
    orderId: newId("order"),
    organizationId: checkout.organizationId,
    environment: checkout.environment,
    subjectId: caller.subjectId,
    mandateId: approval.mandateId,
    slot: idempotency.slot,
    fingerprint,
    idempotencyKey: idempotency.key,
    storefrontUrl: checkout.storefrontUrl,
    items: checkout.items,
    metadata: checkout.metadata,
    status: "new",
    attempt: 0,
    offer,
    authorizationId: approval.authorizationId,
    checkoutIntentId,
  });
}
