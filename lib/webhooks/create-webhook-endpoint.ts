import { audit, clock } from "#lib/audit/transact.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { newId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";
import { checkUrl } from "#lib/webhooks/check-url.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { countEndpoints, insertEndpoint } from "#lib/webhooks/endpoint-store.ts";
import { onceWithoutSecret, presentEndpoint } from "#lib/webhooks/present-endpoint.ts";
import { newSecrets, publicKeyText, seal, secretText } from "#lib/webhooks/secrets.ts";

const ENDPOINTS_MAX = 10;

/** The receiver can read the organization's events, so creating an endpoint counts as giving a right. */
export const createWebhookEndpoint: Handler<typeof contract.createWebhookEndpoint> = async (
  { body },
  { caller, idempotency },
) => {
  const { userId, organizationId } = caller;
  const url = checkUrl(body.url);
  return onceWithoutSecret(contract.createWebhookEndpoint, idempotency, async (tx) => {
    await requireStillHeld(tx, caller, "webhooks:manage");
    await requireProvedToGive(tx, caller);
    if ((await countEndpoints(tx, organizationId)) >= ENDPOINTS_MAX)
      throw new Problem("conflict", {
        detail: `The organization has ${ENDPOINTS_MAX} webhook endpoints, the most there can be. Delete one first.`,
      });
    const secrets = newSecrets();
    const webhookEndpointId = newId("webhookEndpoint");
    const { description = null, eventTypes, full } = body;
    const now = await clock(tx);
    const row = await insertEndpoint(tx, {
      webhookEndpointId,
      organizationId,
      url,
      description,
      eventTypes,
      full,
      status: "enabled",
      publicKey: publicKeyText(secrets),
      sealed: seal(secrets, webhookEndpointId),
      createdAt: now,
    });
    const event = { actorId: userId, organizationId, entityType: "webhookEndpoint", entityId: webhookEndpointId };
    audit(tx, { ...event, type: "webhookEndpoint.created", metadata: { url, eventTypes, ...(full && { full }) } }, now);
    return { ...presentEndpoint(row, now), secret: secretText(secrets) };
  });
};
