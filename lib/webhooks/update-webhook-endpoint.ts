import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { notFound } from "#lib/problem.ts";
import { checkUrl } from "#lib/webhooks/check-url.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { changeEndpoint, lockEndpoint, type EndpointRow } from "#lib/webhooks/endpoint-store.ts";
import { presentEndpoint } from "#lib/webhooks/present-endpoint.ts";

type Change = Partial<Pick<EndpointRow, "url" | "description" | "eventTypes" | "full" | "status">>;

const changesOf = (row: EndpointRow, asked: Change): Change =>
  Object.fromEntries(
    Object.entries(asked).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(row[name as keyof Change]),
    ),
  );

/** True only for changes that send no further data to anybody; all others need a proof of identity. */
const sendsNothingMore = ({ url, eventTypes, full, status }: Change): boolean =>
  url === undefined && eventTypes === undefined && full !== true && (status === undefined || status === "paused");

export const updateWebhookEndpoint: Handler<typeof contract.updateWebhookEndpoint> = async (
  { id, body },
  { caller, idempotency },
) => {
  const asked = { ...body, ...(body.url !== undefined && { url: checkUrl(body.url) }) };
  return once(contract.updateWebhookEndpoint, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    await requireStillHeld(tx, caller, "webhooks:manage");
    const row = await lockEndpoint(tx, organizationId, id);
    if (!row) throw notFound("webhook endpoint");
    const changes = changesOf(row, asked as Change);
    const now = await clock(tx);
    if (Object.keys(changes).length === 0) return presentEndpoint(row, now);
    if (!sendsNothingMore(changes)) await requireProvedToGive(tx, caller);
    // After an endpoint is enabled again, only new failures count for the time after which the service disables it.
    const fresh = changes.status === "enabled" ? { disabledReason: null, failingSince: null } : {};
    const changed = await changeEndpoint(tx, id, { ...changes, ...fresh });
    const event = { actorId: userId, organizationId, entityType: "webhookEndpoint", entityId: id };
    audit(tx, { ...event, type: "webhookEndpoint.updated", metadata: changes }, now);
    return presentEndpoint(changed, now);
  });
};
