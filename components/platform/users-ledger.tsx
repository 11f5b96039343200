import { Badge } from "#components/ui/badge.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { UserLine } from "#lib/pages/admin/view-users.ts";
import { RoleList } from "./role-list.tsx";

const NAMES_MAX = 2;

function Organizations({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <span className="text-muted">None</span>;
  const more = names.length - NAMES_MAX;
  return (
    <span>
      <Untrusted>{names.slice(0, NAMES_MAX).join(", ")}</Untrusted>
      {more > 0 && ` and ${more} more`}
    </span>
  );
}

export const UserState = ({ banned }: { readonly banned: boolean }) =>
  banned ? (
    <Badge tone="danger" icon="cross">
      Banned
    </Badge>
  ) : (
    <Badge tone="positive" icon="check">
      Active
    </Badge>
  );

export const UsersLedger = ({ users }: { readonly users: readonly UserLine[] }) => (
  <Ledger
    caption="People of the platform"
    rows={users}
    rowKey={({ userId }) => userId}
    href={({ userId }) => `/admin/users/${userId}`}
    columns={[
      {
        name: "Person",
        cell: ({ name, email }) => (
          <>
            <Untrusted>{name}</Untrusted>
            <span className="sub">{email}</span>
          </>
        ),
      },
      { name: "Platform roles", cell: (user) => <RoleList roles={user.platformRoles} /> },
      { name: "Organizations", cell: ({ organizations }) => <Organizations names={organizations} /> },
      { name: "Sessions", cell: ({ sessions }) => sessions, numeric: true },
      { name: "Joined", cell: ({ createdAt }) => <Moment at={createdAt} show="date" /> },
      { name: "State", cell: ({ banned }) => <UserState banned={banned} /> },
    ]}
  />
);
