import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { presentUser, requireAdminLeft, requireRightsOf, requireUser } from "#lib/platform/user.ts";
import * as contract from "#lib/platform/contract.ts";
import { endSessions, updateUser } from "#lib/platform/user-store.ts";
import { invalidField, Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

export const banUser: Handler<typeof contract.banUser> = ({ userId, body }, { caller, idempotency }) =>
  once(contract.banUser, idempotency, async (tx) => {
    await closeGate(tx, caller.userId);
    const now = await clock(tx);
    const own = await requireRight(tx, caller, "platform.users.ban", now);
    const banExpires = body.banExpires === undefined ? null : new Date(body.banExpires);
    if (banExpires !== null && banExpires <= now) throw invalidField("/banExpires", "A ban ends in the future.");
    const row = await requireUser(tx, userId);
    if (userId === caller.userId) throw new Problem("forbidden", { detail: "You cannot ban yourself." });
    await requireAdminLeft(tx, row);
    requireRightsOf(row, own);
    const revokedCount = await endSessions(tx, userId, now);
    const saved = await updateUser(tx, userId, { banned: true, banReason: body.reason, banExpires }, now);
    const event = { actorId: caller.userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
    const metadata = { reason: body.reason, revokedCount, ...(banExpires && { banExpires: toWire(banExpires) }) };
    audit(tx, { ...event, type: "platformUser.banned", metadata }, now);
    return presentUser(saved, now);
  });
