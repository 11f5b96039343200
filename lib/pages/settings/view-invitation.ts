import { database } from "#lib/db/client.ts";
import { requiresVerifiedEmail } from "#lib/identity/sessions/auth-methods.ts";
import { readInvitation, type InvitationFacts } from "#lib/identity/members/invitation-store.ts";
import { invitationIdOf } from "#lib/identity/members/invitation-token.ts";
import { findMember } from "#lib/identity/member-store.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { toWire } from "#lib/time.ts";

export type InvitationView = Pick<InvitationFacts, "organizationName" | "inviterName" | "email" | "role"> & {
  readonly expiresAt: string;
  /** `open`: the reader is not signed in. `unconfirmed`: has not confirmed the email address. `other`: has another one. */
  readonly state: "open" | "mine" | "unconfirmed" | "other" | "member" | "expired" | "canceled" | "accepted";
};

/** Anyone with the token may see the email address, because the token is only for its owner. Null for an unknown token. */
export async function viewInvitation(token: string, user: Session["user"] | null): Promise<InvitationView | null> {
  const invitationId = invitationIdOf(token);
  const invitation = invitationId === null ? null : await readInvitation(database(), invitationId);
  if (!invitation) return null;
  const { organizationId, organizationName, inviterName, email, role, expiresAt } = invitation;
  const member = user !== null && (await findMember(database(), organizationId, user.userId)) !== null;
  const state = member ? "member" : stateOf(invitation, user);
  return { organizationName, inviterName, email, role, expiresAt: toWire(expiresAt), state };
}

function stateOf({ status, ended, email }: InvitationFacts, user: Session["user"] | null): InvitationView["state"] {
  if (status === "accepted") return "accepted";
  if (status !== "pending") return "canceled";
  if (ended) return "expired";
  if (user === null) return "open";
  if (user.email.toLowerCase() !== email.toLowerCase()) return "other";
  return requiresVerifiedEmail() && !user.emailVerified ? "unconfirmed" : "mine";
}
