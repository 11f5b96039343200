import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { notFound, Problem } from "#lib/problem.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { resendFailed, resendOne } from "#lib/webhooks/deliveries/store.ts";
import { lockEndpoint } from "#lib/webhooks/endpoint-store.ts";
import { DELIVERY_LEASE_MS } from "#lib/webhooks/limits.ts";
import { requireEnabled } from "#lib/webhooks/require-enabled.ts";

const RESENT_MAX = 10_000;

export const resendWebhookDeliveries: Handler<typeof contract.resendWebhookDeliveries> = (
  { id, body: { webhookDeliveryId, failedSince } },
  { caller, idempotency },
) =>
  once(contract.resendWebhookDeliveries, idempotency, async (tx) => {
    await requireStillHeld(tx, caller, "webhooks:manage");
    const endpoint = await lockEndpoint(tx, caller.organizationId, id);
    if (!endpoint) throw notFound("webhook endpoint");
    requireEnabled(endpoint);
    if (webhookDeliveryId === undefined) {
      const since = new Date(failedSince ?? 0);
      return { resent: await resendFailed(tx, { endpointId: id, since, rows: RESENT_MAX, leaseMs: DELIVERY_LEASE_MS }) };
    }
    const isResent = await resendOne(tx, id, webhookDeliveryId, DELIVERY_LEASE_MS);
    if (isResent === null) throw notFound("webhook delivery");
    if (!isResent) throw new Problem("conflict", { detail: "This delivery is about to be tried anyway." });
    return { resent: 1 };
  });
