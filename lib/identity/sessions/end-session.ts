import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { deleteSession } from "#lib/identity/sessions/session-store.ts";
import { notFound, Problem } from "#lib/problem.ts";

export const endSession: Handler<typeof contract.endSession> = ({ sessionId }, { caller, idempotency }) =>
  once(contract.endSession, idempotency, async (tx) => {
    const { userId, organizationId, sessionId: own } = caller;
    if (sessionId === own) throw new Problem("conflict", { detail: "This is the session that you are in. Sign out instead." });
    await closeGate(tx, organizationId ?? userId);
    await lockPerson(tx, caller);
    if (!(await deleteSession(tx, userId, sessionId))) throw notFound("session");
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "session", entityId: sessionId };
    audit(tx, { ...event, type: "session.ended", metadata: {} }, await clock(tx));
    return { endedCount: 1 };
  });
