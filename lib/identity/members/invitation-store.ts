import { eq, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { invitation, organization, user } from "#lib/identity/tables.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

export type InvitationFacts = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly inviterName: string;
  readonly email: string;
  readonly role: MembershipRole;
  readonly status: string;
  readonly expiresAt: Date;
  readonly ended: boolean;
};

/** An invitation with the names that its mail and its page show. */
export async function readInvitation(tx: Tx | Database, invitationId: string): Promise<InvitationFacts | null> {
  const [row] = await tx
    .select({
      organizationId: organization.id,
      organizationName: organization.name,
      inviterName: user.name,
      email: invitation.email,
      role: invitation.role,
      status: invitation.status,
      expiresAt: invitation.expiresAt,
      ended: sql<boolean>`${invitation.expiresAt} <= clock_timestamp()`,
    })
    .from(invitation)
    .innerJoin(organization, eq(organization.id, invitation.organizationId))
    .innerJoin(user, eq(user.id, invitation.inviterId))
    .where(eq(invitation.id, invitationId));
  return row ? { ...row, role: membershipRoleOf(row.role ?? "viewer") } : null;
}
