import { canonicalJson } from "#lib/canonical-json.ts";
import { placeOrder as operation } from "#lib/commerce/order-contract.ts";
import { credentialOf, runOrder } from "#lib/commerce/order/run-order.ts";
import { openOrder } from "#lib/commerce/order/order-store.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { fingerprintOf, keyReused } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";

/** All calls about one order have the same idempotency key. */
export const placeOrder: Handler<typeof operation> = async ({ body }, { caller, idempotency, requestId, request }) => {
  if (!idempotency) throw new Error("The body's idempotencyKey is required.");
  const { storefrontUrl, mandateId, items, metadata, paymentCredential } = body;
  const { organizationId, environment, subjectId } = caller;
  const fingerprint = fingerprintOf(canonicalJson({ storefrontUrl, mandateId, items }));
  const order = await openOrder(database(), {
    orderId: newId("order"),
    organizationId,
    environment,
    subjectId,
    mandateId,
    slot: idempotency.slot,
    fingerprint,
    idempotencyKey: idempotency.key,
    storefrontUrl,
    items,
    metadata: metadata ?? null,
    status: "new",
    attempt: 0,
  });
  if (order.fingerprint !== fingerprint) throw keyReused();
  const url = `${env().BASE_URL}${operation.path}`;
  return runOrder(order, { caller, requestId, request, credential: credentialOf(paymentCredential), url });
};
