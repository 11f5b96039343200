import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { platformRolesOf } from "#lib/identity/capabilities.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { rolesAfter } from "#lib/platform/roles.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { presentUser, requireAdminLeft, requireUser } from "#lib/platform/user.ts";
import * as contract from "#lib/platform/contract.ts";
import { updateUser } from "#lib/platform/user-store.ts";

export const updateUserRoles: Handler<typeof contract.updateUserRoles> = ({ userId, body }, { caller, idempotency }) =>
  once(contract.updateUserRoles, idempotency, async (tx) => {
    await closeGate(tx, caller.userId);
    const now = await clock(tx);
    await requireRight(tx, caller, "platform.roles.update", now);
    const row = await requireUser(tx, userId);
    const current = platformRolesOf([...row.platformRoles, "user"]);
    const after = rolesAfter({ self: userId === caller.userId, current, asked: body.platformRoles ?? current });
    if (after.join() === current.join()) return presentUser(row, now);
    if (!after.includes("admin")) await requireAdminLeft(tx, row);
    if (after.some((role) => !current.includes(role))) await requireProvedToGive(tx, caller);
    const saved = await updateUser(tx, userId, { platformRoles: after }, now);
    const event = { actorId: caller.userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
    const metadata = { platformRoles: after, before: current, reason: body.reason };
    audit(tx, { ...event, type: "platformUser.rolesUpdated", metadata }, now);
    return presentUser(saved, now);
  });
