import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { lackedOf } from "#lib/identity/capabilities.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { onceWithoutKey, presentServiceAccount } from "#lib/identity/keys/present-service-account.ts";
import { expireKey, insertKey, lockServiceAccount, readLiveKeys, revokeKey } from "#lib/identity/keys/service-account-store.ts";
import { notFound, Problem } from "#lib/problem.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** The new key has all capabilities of the account, so the person must have them too. @throws Problem capability_required */
function requireHeld(capabilities: readonly string[], held: ReadonlySet<Capability>): void {
  const [capability] = lackedOf(capabilities, held);
  if (capability === undefined) return;
  throw new Problem("capability_required", {
    detail: `This service account has ${capability}, which you do not have, so you may revoke it but not get a new key for it.`,
    nextActions: [
      {
        type: "request_capability",
        label: "Ask for the key",
        description: "Ask an owner or admin of the organization to rotate the key, or revoke the service account.",
        metadata: { capability },
      },
    ],
  });
}

/** OAuth clients keep their access; closeGate waits for running payments, so that none commits with a revoked key afterwards. */
export const rotateServiceAccountKey: Handler<typeof contract.rotateServiceAccountKey> = async (
  { id, body: { gracePeriodSeconds } },
  { caller, idempotency },
) =>
  onceWithoutKey(contract.rotateServiceAccountKey, idempotency, async (tx) => {
    const { userId, organizationId, environment } = caller;
    await closeGate(tx, organizationId);
    const held = await requireStillHeld(tx, caller, "serviceAccounts:manage");
    const account = await lockServiceAccount(tx, organizationId, id);
    if (!account) throw notFound("service account");
    if (account.revoked) throw new Problem("conflict", { detail: "This service account was revoked. Create another one." });
    requireHeld(account.capabilities, held);
    await requireProvedToGive(tx, caller);
    const now = await clock(tx);
    const [newest, ...older] = await readLiveKeys(tx, id);
    for (const { keyId } of older) await revokeKey(tx, keyId, now);
    if (newest && gracePeriodSeconds > 0) await expireKey(tx, newest.keyId, new Date(now.getTime() + gracePeriodSeconds * 1000));
    else if (newest) await revokeKey(tx, newest.keyId, now);
    const key = newApiKey(environment);
    await insertKey(tx, account, key, { createdBy: userId, createdAt: now });
    const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: id };
    const metadata = { keyId: key.keyId, gracePeriodSeconds, ...(newest && { previousKeyId: newest.keyId }) };
    audit(tx, { ...event, type: "serviceAccount.rotated", metadata }, now);
    return { ...presentServiceAccount({ ...account, keyPreview: key.keyPreview }), apiKey: key.apiKey };
  });
