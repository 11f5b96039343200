import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { decideKeys } from "#lib/identity/keys/decide-keys.ts";
import { lockMembers, requireMember } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { countOwners, setRole } from "#lib/identity/member-store.ts";
import { cancelInvitationsOf } from "#lib/identity/members/invitation-store.ts";
import { grantableRoles, isMore, requireGrantable, requireOwnerLeft } from "#lib/identity/members/membership.ts";
import { presentMember } from "#lib/identity/members/present-member.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { MembershipRole } from "#lib/vocabulary.ts";

/** The change may take a capability away, so closeGate waits for running payments. */
export const updateMember: Handler<typeof contract.updateMember> = async (
  { organizationId, userId, body: { role, reason, keys } },
  { caller, idempotency },
) =>
  once(contract.updateMember, idempotency, async (tx) => {
    await closeGate(tx, caller.organizationId);
    const { role: own } = await lockMembers(tx, organizationId, caller);
    const row = await requireMember(tx, organizationId, userId);
    const current = membershipRoleOf(row.role);
    requireGrantable(own, current, role);
    if (current === role) return presentMember(row);
    requireOwnerLeft(current, role, await countOwners(tx, organizationId));
    if (isMore(role, current)) await requireProvedToGive(tx, caller);
    const now = await clock(tx);
    const losing = { organizationId, userId, left: capabilitiesOfRole(role) };
    const decided = isMore(current, role) ? await decideKeys(tx, losing, keys, now) : {};
    await setRole(tx, row, role);
    const beyond = MembershipRole.options.filter((one) => !grantableRoles(role).includes(one));
    const canceledInvitations = await cancelInvitationsOf(tx, row, beyond);
    const metadata = { from: current, to: role, ...(reason !== undefined && { reason }), canceledInvitations, ...decided };
    const event = { actorId: caller.userId, organizationId, subjectId: userId, entityType: "member", entityId: userId };
    audit(tx, { ...event, type: "member.roleUpdated", metadata }, now);
    return presentMember({ ...row, role });
  });
