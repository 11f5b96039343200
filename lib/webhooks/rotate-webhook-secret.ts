import { audit, clock } from "#lib/audit/transact.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { notFound } from "#lib/problem.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { changeEndpoint, lockEndpoint } from "#lib/webhooks/endpoint-store.ts";
import { onceWithoutSecret, presentEndpoint } from "#lib/webhooks/present-endpoint.ts";
import { newSecrets, publicKeyText, seal, secretText } from "#lib/webhooks/secrets.ts";

/** At most two generations of secrets sign: older ones stop now, even if their grace period has not ended. */
export const rotateWebhookSecret: Handler<typeof contract.rotateWebhookSecret> = async (
  { id, body: { gracePeriodSeconds } },
  { caller, idempotency },
) =>
  onceWithoutSecret(contract.rotateWebhookSecret, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    await requireStillHeld(tx, caller, "webhooks:manage");
    const row = await lockEndpoint(tx, organizationId, id);
    if (!row) throw notFound("webhook endpoint");
    await requireProvedToGive(tx, caller);
    const secrets = newSecrets();
    const now = await clock(tx);
    const isKept = gracePeriodSeconds > 0;
    const changed = await changeEndpoint(tx, id, {
      publicKey: publicKeyText(secrets),
      sealed: seal(secrets, id),
      previousSealed: isKept ? row.sealed : null,
      previousUntil: isKept ? new Date(now.getTime() + gracePeriodSeconds * 1_000) : null,
    });
    const event = { actorId: userId, organizationId, entityType: "webhookEndpoint", entityId: id };
    audit(tx, { ...event, type: "webhookEndpoint.secretRotated", metadata: { gracePeriodSeconds } }, now);
    return { ...presentEndpoint(changed, now), secret: secretText(secrets) };
  });
