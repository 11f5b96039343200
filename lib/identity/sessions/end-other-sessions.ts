import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { deleteOtherSessions } from "#lib/identity/sessions/session-store.ts";

export const endOtherSessions: Handler<typeof contract.endOtherSessions> = (_, { caller, idempotency }) =>
  once(contract.endOtherSessions, idempotency, async (tx) => {
    const { userId, organizationId, sessionId } = caller;
    await closeGate(tx, organizationId ?? userId);
    await lockPerson(tx, caller);
    const endedCount = await deleteOtherSessions(tx, userId, sessionId);
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
    if (endedCount > 0) audit(tx, { ...event, type: "session.othersEnded", metadata: { endedCount } }, await clock(tx));
    return { endedCount };
  });
