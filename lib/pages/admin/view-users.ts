import { countSessions, selectMemberships, selectSessions } from "#lib/platform/directory-store.ts";
import { clock } from "#lib/audit/store.ts";
import { database } from "#lib/db/client.ts";
import type { Input } from "#lib/http/operation.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { readAllEvents } from "#lib/platform/list-platform-audit-events.ts";
import { readUsers } from "#lib/platform/list-users.ts";
import { presentUser } from "#lib/platform/user.ts";
import type * as contract from "#lib/platform/contract.ts";
import { findUser } from "#lib/identity/user-store.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

const SESSIONS = 50;
const EVENTS = 20;

export type UserLine = Awaited<ReturnType<typeof viewUsers>>["items"][number];

export async function viewUsers(query: Input<typeof contract.listUsers>["query"]) {
  const { items, ...rest } = await readUsers(query);
  const ids = items.map(({ userId }) => userId);
  const [sessions, memberships] = ids.length === 0 ? [[], []] : await Promise.all([countSessions(ids), selectMemberships(ids)]);
  const counts = new Map(sessions.map((row) => [row.userId, row]));
  const names = Map.groupBy(memberships, ({ userId }) => userId);
  return {
    items: items.map((user) => {
      const { count = 0, seenAt = null } = counts.get(user.userId) ?? {};
      const organizations = (names.get(user.userId) ?? []).map(({ name }) => name);
      return { ...user, organizations, sessions: count, seenAt: seenAt && toWire(seenAt) };
    }),
    ...rest,
  };
}

export type UserView = Awaited<ReturnType<typeof viewUser>>;

/** `events` is null if the reader may not read the audit log. @throws Problem not_found */
export async function viewUser(userId: string, readsAudit: boolean) {
  const [row, now] = await Promise.all([findUser(database(), userId), clock(database())]);
  if (!row) throw notFound("user");
  const [memberships, sessions, events] = await Promise.all([
    selectMemberships([userId]),
    selectSessions(userId, SESSIONS),
    readsAudit ? readAllEvents({ limit: EVENTS, entityId: userId }) : null,
  ]);
  return {
    user: presentUser(row, now),
    memberships: memberships.map(({ organizationId, name, role }) => ({ organizationId, name, role: membershipRoleOf(role) })),
    sessions: sessions.map((session) => ({
      ...session,
      createdAt: toWire(session.createdAt),
      updatedAt: toWire(session.updatedAt),
    })),
    events: events?.items ?? null,
  };
}
