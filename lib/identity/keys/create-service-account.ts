import { audit, clock } from "#lib/audit/transact.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { grantCapabilities } from "#lib/identity/capabilities.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { onceWithoutKey, presentServiceAccount } from "#lib/identity/keys/present-service-account.ts";
import { insertKey, insertServiceAccount } from "#lib/identity/keys/service-account-store.ts";
import { newId } from "#lib/ids.ts";
import { notFound } from "#lib/problem.ts";

export const createServiceAccount: Handler<typeof contract.createServiceAccount> = async ({ body }, { caller, idempotency }) => {
  const { userId, organizationId, environment } = caller;
  if (body.organizationId !== organizationId) throw notFound("active organization");
  return onceWithoutKey(contract.createServiceAccount, idempotency, async (tx) => {
    const held = await requireStillHeld(tx, caller, "serviceAccounts:manage");
    const capabilities = grantCapabilities(body.capabilities, held);
    await requireProvedToGive(tx, caller);
    const now = await clock(tx);
    const serviceAccountId = newId("serviceAccount");
    const account = {
      serviceAccountId,
      organizationId,
      environment,
      name: body.name,
      capabilities,
      createdBy: userId,
      createdAt: now,
    };
    const key = newApiKey(environment);
    await insertServiceAccount(tx, account);
    await insertKey(tx, account, key, account);
    const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: serviceAccountId };
    const metadata = { name: body.name, capabilities, keyId: key.keyId };
    audit(tx, { ...event, type: "serviceAccount.created", metadata }, now);
    return {
      ...presentServiceAccount({ ...account, revoked: false, pausedAt: null, keyPreview: key.keyPreview }),
      apiKey: key.apiKey,
    };
  });
};
