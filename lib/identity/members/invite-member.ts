import { audit, clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { queueInvitationMail } from "#lib/identity/members/invitation-mail.ts";
import { lockMembers } from "#lib/identity/lock-members.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { isMemberAddress } from "#lib/identity/member-store.ts";
import { findPending, saveInvitation, type InvitationRow } from "#lib/identity/members/invitation-store.ts";
import { requireGrantable } from "#lib/identity/members/membership.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { presentInvitation } from "#lib/identity/members/present-member.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { newId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";
import { minutes } from "#lib/time.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

const LIVES_MS = minutes(48 * 60);
/** A limit for one person and minute, because each invitation sends a mail to an address that somebody typed. */
const INVITATIONS_MAX = 30;

type Invitee = { readonly organizationId: string; readonly email: string; readonly role: MembershipRole };

function invitationOf({ organizationId, email, role }: Invitee, open: InvitationRow | null, now: Date): InvitationRow {
  const expiresAt = new Date(now.getTime() + LIVES_MS);
  const fresh = { id: newId("invitation"), organizationId, email, status: "pending", createdAt: now };
  return { ...(open ?? fresh), role, expiresAt };
}

async function requireStranger(tx: Tx, { organizationId, email }: Invitee): Promise<void> {
  if (!(await isMemberAddress(tx, organizationId, email))) return;
  throw new Problem("conflict", {
    detail: "The account with this address is a member already. Change the member's role instead.",
  });
}

export const inviteMember: Handler<typeof contract.inviteMember> = async (
  { organizationId, body: { email, role } },
  { caller, idempotency },
) => {
  await countAttempt("invite", caller.userId, INVITATIONS_MAX);
  return once(contract.inviteMember, idempotency, async (tx) => {
    const { role: own } = await lockMembers(tx, organizationId, caller);
    const invited = { organizationId, email, role };
    const open = await findPending(tx, organizationId, email);
    requireGrantable(own, role, ...(open ? [membershipRoleOf(open.role ?? "viewer")] : []));
    await requireStranger(tx, invited);
    await requireProvedToGive(tx, caller);
    const now = await clock(tx);
    const row = invitationOf(invited, open, now);
    await saveInvitation(tx, { ...row, inviterId: caller.userId });
    await queueInvitationMail(tx, row.id);
    const event = { actorId: caller.userId, organizationId, entityType: "invitation", entityId: row.id };
    audit(tx, { ...event, type: "member.invited", metadata: { email, role, ...(open && { again: true }) } }, now);
    return presentInvitation(row);
  });
};
