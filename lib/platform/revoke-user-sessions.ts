import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { requireUser } from "#lib/platform/user.ts";
import * as contract from "#lib/platform/contract.ts";
import { endSessions } from "#lib/platform/user-store.ts";

export const revokeUserSessions: Handler<typeof contract.revokeUserSessions> = ({ userId, body }, { caller, idempotency }) =>
  once(contract.revokeUserSessions, idempotency, async (tx) => {
    await closeGate(tx, caller.userId);
    const now = await clock(tx);
    await requireRight(tx, caller, "platform.sessions.revoke", now);
    await requireUser(tx, userId);
    const revokedCount = await endSessions(tx, userId, now);
    const event = { actorId: caller.userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
    audit(tx, { ...event, type: "session.revoked", metadata: { revokedCount, reason: body.reason } }, now);
    return { userId, revokedCount };
  });
