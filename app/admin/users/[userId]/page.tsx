import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import { AuditLedger } from "#components/platform/audit-ledger.tsx";
import { Ban, Unban } from "#components/platform/ban.tsx";
import { EditRoles } from "#components/platform/edit-roles.tsx";
import { EndSessions } from "#components/platform/end-sessions.tsx";
import { UserState } from "#components/platform/users-ledger.tsx";
import { roleName } from "#components/shell/menu-words.ts";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { visible } from "#lib/visible-text.ts";
import { RoleList } from "#components/platform/role-list.tsx";
import { withNames } from "#lib/pages/admin/view-platform-audit.ts";
import { viewUser, type UserView } from "#lib/pages/admin/view-users.ts";

type Props = { readonly params: Promise<{ readonly userId: string }> };

export const metadata = { title: "User" };

function SessionList({ sessions }: Pick<UserView, "sessions">) {
  if (sessions.length === 0) return <p className="text-muted text-sm">Signed in nowhere.</p>;
  return (
    <ul className="divide-y text-sm">
      {sessions.map(({ sessionId, userAgent, createdAt }) => (
        <li key={sessionId} className="grid grid-cols-[minmax(0,1fr)_auto] gap-3 py-2">
          <span className="wrap-anywhere text-muted">
            <Untrusted>{(userAgent || "Unknown browser").slice(0, 120)}</Untrusted>
          </span>
          <Moment at={createdAt} show="short" />
        </li>
      ))}
    </ul>
  );
}

const Organizations = ({ memberships }: Pick<UserView, "memberships">) =>
  memberships.length === 0 ? (
    "None"
  ) : (
    <>
      {memberships.map(({ organizationId, name, role }) => (
        <span className="block" key={organizationId}>
          <Untrusted>{name}</Untrusted>, {roleName[role].toLowerCase()}
        </span>
      ))}
    </>
  );

const Person = ({ view: { user, memberships } }: { readonly view: UserView }) => (
  <Panel id="person" title="Person" aside={<UserState banned={user.banned} />}>
    <div className="panel-body">
      <Pairs
        items={[
          ["Id", <Copyable key="id" value={user.userId} label="user id" head={8} />],
          ["E-mail", user.emailVerified ? "Verified" : "Not verified"],
          ["Platform roles", <RoleList key="roles" roles={user.platformRoles} />],
          ["Organizations", <Organizations key="organizations" memberships={memberships} />],
          ["Joined", <Moment key="joined" at={user.createdAt} show="date" />],
        ]}
      />
    </div>
  </Panel>
);

type SessionsProps = { readonly view: UserView; readonly self: boolean; readonly revokes: boolean };

const Sessions = ({ view: { user, sessions }, self, revokes }: SessionsProps) => (
  <Panel
    id="sessions"
    title="Sessions"
    aside={
      revokes &&
      sessions.length > 0 && <EndSessions userId={user.userId} name={visible(user.name)} count={sessions.length} self={self} />
    }
  >
    <div className="panel-body">
      <SessionList sessions={sessions} />
    </div>
  </Panel>
);

export default async function UserPage({ params }: Props) {
  const { userId } = await params;
  const path = `/admin/users/${userId}`;
  const caller = await requireOfficial(path, "platform.users.read");
  const may = caller.platformCapabilities;
  const view = await found(viewUser(userId, may.has("platform.audit.read")));
  const { user, events } = view;
  const self = userId === caller.userId;
  const name = visible(user.name);
  return (
    <>
      <PageHeader
        back={{ href: "/admin/users", label: "Users" }}
        title={<Untrusted>{user.name}</Untrusted>}
        description={user.email}
        actions={
          may.has("platform.users.ban") &&
          !self &&
          (user.banned ? <Unban user={{ userId, name }} /> : <Ban user={{ userId, name }} />)
        }
      />
      <div className="stack">
        {user.banned && (
          <Notice tone="danger">
            <strong>Banned.</strong> <Untrusted>{user.banReason ?? ""}</Untrusted>
            {user.banExpires === undefined ? (
              " It has no end."
            ) : (
              <>
                {" "}
                It ends on <Moment at={user.banExpires} />.
              </>
            )}
          </Notice>
        )}
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
          <Person view={view} />
          <Sessions view={view} self={self} revokes={may.has("platform.sessions.revoke")} />
        </div>
        {may.has("platform.roles.update") && (
          <Panel
            id="roles"
            title="Roles"
            about={self ? "You cannot change your own roles. Ask another admin." : "They apply from the next request on."}
          >
            <div className="panel-body">
              <EditRoles key={user.platformRoles.join()} user={{ userId, name, platformRoles: user.platformRoles }} self={self} />
            </div>
          </Panel>
        )}
        {events && events.length > 0 && (
          <Panel id="events" title="What happened to this account">
            <AuditLedger events={await withNames(events)} />
          </Panel>
        )}
      </div>
    </>
  );
}
