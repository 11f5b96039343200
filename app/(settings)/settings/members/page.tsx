import Link from "next/link";
import { requireMember } from "#app/session.ts";
import { InvitationsLedger } from "#components/organization/invitations-ledger.tsx";
import { InviteMember } from "#components/organization/invite-member.tsx";
import { MembersLedger } from "#components/organization/members-ledger.tsx";
import { roles } from "#components/organization/role-words.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { viewMembers } from "#lib/pages/settings/view-members.ts";

export const metadata = { title: "Members" };

export default async function MembersPage() {
  const caller = await requireMember("/settings/members");
  const view = await viewMembers(caller);
  const manages = view.grantable.length > 0;
  return (
    <>
      <PageHeader
        title="Members"
        description={
          manages
            ? "Who works in this organization, and what each role may do."
            : "Who works in this organization. An owner or admin invites people and changes roles."
        }
        {...(manages && {
          actions: <InviteMember organizationId={caller.organizationId} grantable={view.grantable} mailed={view.mailed} />,
        })}
      />
      <div className="stack">
        <Panel id="members" title="Members" note={view.more ? "The first 200" : view.members.length}>
          <MembersLedger view={view} userId={caller.userId} />
        </Panel>
        {view.invitations.length > 0 && (
          <Panel id="invitations" title="Open invitations" note={view.invitations.length}>
            <InvitationsLedger invitations={view.invitations} grantable={view.grantable} />
          </Panel>
        )}
        <Panel id="roles" title="What each role may do">
          <div className="panel-body">
            <Pairs items={roles.map(({ name, may }) => [name, may] as const)} />
          </div>
          <div className="panel-foot">
            <Link href="/approvals#approving">Above which amounts approvers prove who they are</Link>
          </div>
        </Panel>
      </div>
    </>
  );
}
