import type { Tx } from "#lib/db/client.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { readInvitation } from "#lib/identity/members/invitation-store.ts";
import { quoted } from "#lib/mail/compose.ts";
import { queueMail } from "#lib/mail/queue-mail.ts";

export async function queueInvitationMail(tx: Tx, invitationId: string): Promise<void> {
  const invitation = await readInvitation(tx, invitationId);
  if (invitation === null) return;
  const { email, role, expiresAt, inviterName } = invitation;
  const organization = quoted(invitation.organizationName);
  await queueMail(tx, {
    to: email,
    subject: `You are invited to ${organization}`,
    paragraphs: [
      `${quoted(inviterName)} invites you to the organization ${organization} as ${role}.`,
      "Its members decide what software agents may pay, and approve what is above the limits.",
    ],
    action: { label: "See the invitation", path: `/invitations/${invitationTokenOf(invitationId)}` },
    note: "The invitation ends after 48 hours. The names above were chosen by the people who invite you. If you do not know them, ignore this mail: nothing happens.",
    usefulUntil: expiresAt,
  });
}
