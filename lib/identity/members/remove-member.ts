import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { decideKeys } from "#lib/identity/keys/decide-keys.ts";
import { lockMembers, requireMember } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { countOwners, deleteMember } from "#lib/identity/member-store.ts";
import { cancelInvitationsOf } from "#lib/identity/members/invitation-store.ts";
import { requireGrantable, requireOwnerLeft } from "#lib/identity/members/membership.ts";
import { presentMember } from "#lib/identity/members/present-member.ts";
import { MembershipRole } from "#lib/vocabulary.ts";

/** A payment of this person that enters the gate after this change reads the person's role again and is refused. */
export const removeMember: Handler<typeof contract.removeMember> = async (
  { organizationId, userId, body: { reason, keys } },
  { caller, idempotency },
) =>
  once(contract.removeMember, idempotency, async (tx) => {
    await closeGate(tx, caller.organizationId);
    const { role: own } = await lockMembers(tx, organizationId, caller);
    const row = await requireMember(tx, organizationId, userId);
    const role = membershipRoleOf(row.role);
    requireGrantable(own, role);
    requireOwnerLeft(role, null, await countOwners(tx, organizationId));
    const now = await clock(tx);
    const decided = await decideKeys(tx, { organizationId, userId, left: capabilitiesOfRole(null) }, keys, now);
    await deleteMember(tx, row);
    const canceledInvitations = await cancelInvitationsOf(tx, row, MembershipRole.options);
    const metadata = { role, ...(reason !== undefined && { reason }), canceledInvitations, ...decided };
    const event = { actorId: caller.userId, organizationId, subjectId: userId, entityType: "member", entityId: userId };
    audit(tx, { ...event, type: "member.removed", metadata }, now);
    return presentMember(row);
  });
