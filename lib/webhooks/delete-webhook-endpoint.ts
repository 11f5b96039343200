import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { notFound } from "#lib/problem.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { deleteEndpoint, lockEndpoint } from "#lib/webhooks/endpoint-store.ts";
import { presentEndpoint } from "#lib/webhooks/present-endpoint.ts";

export const deleteWebhookEndpoint: Handler<typeof contract.deleteWebhookEndpoint> = ({ id }, { caller, idempotency }) =>
  once(contract.deleteWebhookEndpoint, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    await requireStillHeld(tx, caller, "webhooks:manage");
    const row = await lockEndpoint(tx, organizationId, id);
    if (!row) throw notFound("webhook endpoint");
    await deleteEndpoint(tx, id);
    const now = await clock(tx);
    const event = { actorId: userId, organizationId, entityType: "webhookEndpoint", entityId: id };
    audit(tx, { ...event, type: "webhookEndpoint.deleted", metadata: { url: row.url } }, now);
    return presentEndpoint(row, now);
  });
