import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { lockMembers } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { cancelPending, lockInvitation } from "#lib/identity/members/invitation-store.ts";
import { requireGrantable } from "#lib/identity/members/membership.ts";
import { presentInvitation } from "#lib/identity/members/present-member.ts";
import { notFound, Problem } from "#lib/problem.ts";

export const cancelInvitation: Handler<typeof contract.cancelInvitation> = async (
  { organizationId, id },
  { caller, idempotency },
) =>
  once(contract.cancelInvitation, idempotency, async (tx) => {
    const { role } = await lockMembers(tx, organizationId, caller);
    const invitation = await lockInvitation(tx, organizationId, id);
    if (!invitation) throw notFound("invitation");
    requireGrantable(role, membershipRoleOf(invitation.role ?? "viewer"));
    if (invitation.status === "accepted") {
      throw new Problem("conflict", { detail: "This invitation was accepted. Remove the member instead." });
    }
    if (invitation.status === "pending") {
      await cancelPending(tx, id);
      const event = { actorId: caller.userId, organizationId, entityType: "invitation", entityId: id };
      audit(tx, { ...event, type: "member.invitationCanceled", metadata: { email: invitation.email } }, await clock(tx));
    }
    return presentInvitation({ ...invitation, status: "canceled" });
  });
