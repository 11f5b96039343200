import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { newId } from "#lib/ids.ts";
import { notFound } from "#lib/problem.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { insertTest } from "#lib/webhooks/deliveries/store.ts";
import { lockEndpoint } from "#lib/webhooks/endpoint-store.ts";
import { TESTED } from "#lib/webhooks/deliveries/message.ts";
import { presentDelivery } from "#lib/webhooks/deliveries/present-delivery.ts";
import { requireEnabled } from "#lib/webhooks/require-enabled.ts";

export const testWebhookEndpoint: Handler<typeof contract.testWebhookEndpoint> = ({ id }, { caller, idempotency }) =>
  once(contract.testWebhookEndpoint, idempotency, async (tx) => {
    const { organizationId } = caller;
    await requireStillHeld(tx, caller, "webhooks:manage");
    const endpoint = await lockEndpoint(tx, organizationId, id);
    if (!endpoint) throw notFound("webhook endpoint");
    requireEnabled(endpoint);
    const webhookDeliveryId = newId("webhookDelivery");
    const test = { webhookDeliveryId, webhookEndpointId: id, organizationId, eventId: webhookDeliveryId };
    return presentDelivery(await insertTest(tx, { ...test, type: TESTED, sequence: null }), undefined);
  });
