import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { presentServiceAccount } from "#lib/identity/keys/present-service-account.ts";
import { lockServiceAccount, revokeAccountAndKeys } from "#lib/identity/keys/service-account-store.ts";
import { notFound } from "#lib/problem.ts";

export const revokeServiceAccount: Handler<typeof contract.revokeServiceAccount> = async (
  { id, body: { reason } },
  { caller: { userId, organizationId }, idempotency },
) =>
  once(contract.revokeServiceAccount, idempotency, async (tx) => {
    await closeGate(tx, organizationId);
    const account = await lockServiceAccount(tx, organizationId, id);
    if (!account) throw notFound("service account");
    if (!account.revoked) {
      const now = await clock(tx);
      await revokeAccountAndKeys(tx, id, now);
      const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: id };
      audit(tx, { ...event, type: "serviceAccount.revoked", metadata: { ...(reason !== undefined && { reason }) } }, now);
    }
    return presentServiceAccount(account);
  });
