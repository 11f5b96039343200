import { Badge } from "#components/ui/badge.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { roleName } from "#components/shell/menu-words.ts";
import type { Member } from "#lib/identity/members/contract.ts";
import type { MembersView } from "#lib/pages/settings/view-members.ts";
import { ChangeRole } from "./change-role.tsx";
import { RemoveMember } from "./remove-member.tsx";

function Actions({ member, view }: { readonly member: Member; readonly view: MembersView }) {
  if (!view.grantable.includes(member.role)) return null;
  if (member.role === "owner" && view.owners === 1)
    return <span className="text-muted text-sm">The last owner cannot be removed</span>;
  const keys = view.keysMade[member.userId] ?? [];
  return (
    <span className="actions">
      <ChangeRole member={member} grantable={view.grantable} keys={keys} />
      <RemoveMember member={member} keys={keys} />
    </span>
  );
}

export function MembersLedger({ view, userId }: { readonly view: MembersView; readonly userId: string }) {
  const actions = { name: "Actions", actions: true, cell: (member: Member) => <Actions member={member} view={view} /> };
  return (
    <Ledger
      caption="Members of the organization"
      rows={view.members}
      rowKey={(member) => member.userId}
      columns={[
        {
          name: "Name",
          cell: (member) => (
            <span id={member.userId} className="scroll-mt-20">
              <Untrusted>{member.name}</Untrusted>
              {member.userId === userId && (
                <>
                  {" "}
                  <Badge icon="info">You</Badge>
                </>
              )}
              <span className="sub">{member.email}</span>
            </span>
          ),
        },
        { name: "Role", cell: (member) => roleName[member.role] },
        { name: "Joined", cell: (member) => <Moment at={member.createdAt} show="date" /> },
        ...(view.grantable.length > 0 ? [actions] : []),
      ]}
    />
  );
}
