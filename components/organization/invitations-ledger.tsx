import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { roleName } from "#components/shell/menu-words.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";
import type { OpenInvitation } from "#lib/pages/settings/view-members.ts";
import { InvitationActions } from "./invitation-actions.tsx";

type Props = { readonly invitations: readonly OpenInvitation[]; readonly grantable: readonly MembershipRole[] };

export const InvitationsLedger = ({ invitations, grantable }: Props) => (
  <Ledger
    caption="Open invitations"
    rows={invitations}
    rowKey={(invitation) => invitation.invitationId}
    columns={[
      {
        name: "E-mail",
        cell: ({ email, invitedBy, link }) => (
          <>
            {email}
            <span className="sub">
              Invited by <Untrusted>{invitedBy}</Untrusted>
            </span>
            {link !== undefined && (
              <span className="sub">
                <Copyable value={link} label={`the invitation link of ${email}`} head={18} />
              </span>
            )}
          </>
        ),
      },
      { name: "Role", cell: ({ role }) => roleName[role] },
      {
        name: "Expires",
        cell: ({ expiresAt, expired }) => (
          <>
            <Moment at={expiresAt} show="minute" /> {expired && <StatusBadge of="invitation" status="expired" />}
          </>
        ),
      },
      {
        name: "Actions",
        actions: true,
        cell: (invitation) => (grantable.includes(invitation.role) ? <InvitationActions invitation={invitation} /> : null),
      },
    ]}
  />
);
