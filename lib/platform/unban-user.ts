import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { presentUser, requireRightsOf, requireUser } from "#lib/platform/user.ts";
import * as contract from "#lib/platform/contract.ts";
import { bannedNow } from "#lib/identity/user-store.ts";
import { updateUser } from "#lib/platform/user-store.ts";

/** Calls closeGate, although it revokes nothing, because bans, unbans and changes of roles must run one after the other. */
export const unbanUser: Handler<typeof contract.unbanUser> = ({ userId, body }, { caller, idempotency }) =>
  once(contract.unbanUser, idempotency, async (tx) => {
    await closeGate(tx, caller.userId);
    const now = await clock(tx);
    const own = await requireRight(tx, caller, "platform.users.ban", now);
    const row = await requireUser(tx, userId);
    requireRightsOf(row, own);
    if (!bannedNow(row, now)) return presentUser(row, now);
    await requireProvedToGive(tx, caller);
    const saved = await updateUser(tx, userId, { banned: false, banReason: null, banExpires: null }, now);
    const event = { actorId: caller.userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
    audit(tx, { ...event, type: "platformUser.unbanned", metadata: { reason: body.reason } }, now);
    return presentUser(saved, now);
  });
