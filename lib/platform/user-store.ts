import { and, count, desc, eq, like, lt, ne, or, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { startsWith } from "#lib/db/like.ts";
import { session, user } from "#lib/identity/tables.ts";
import { isBanned, isLive } from "#lib/identity/live-store.ts";
import type { UserRow } from "#lib/identity/user-store.ts";
import type { PlatformRole } from "#lib/vocabulary.ts";

/** If a decision depends on the count, call closeGate first, because its lock puts bans and changes of roles in order. */
export async function countOtherAdmins(tx: Tx, userId: string): Promise<number> {
  const [row] = await tx
    .select({ count: count() })
    .from(user)
    .where(
      and(sql`${user.platformRoles} @> '{admin}'`, sql`${user.platformRoles} <> '{user}'`, ne(user.id, userId), isLive.person),
    );
  return row?.count ?? 0;
}

type Change = Partial<Pick<typeof user.$inferInsert, "platformRoles" | "banned" | "banReason" | "banExpires">>;

export async function updateUser(tx: Tx, userId: string, change: Change, now: Date): Promise<UserRow> {
  const [row] = await tx
    .update(user)
    .set({ ...change, updatedAt: now })
    .where(eq(user.id, userId))
    .returning();
  return row!;
}

/** Returns how many sessions were still valid. */
export async function endSessions(tx: Tx, userId: string, now: Date): Promise<number> {
  const ended = await tx.delete(session).where(eq(session.userId, userId)).returning({ expiresAt: session.expiresAt });
  return ended.filter(({ expiresAt }) => expiresAt > now).length;
}

export type UserFilter = {
  readonly search?: string | undefined;
  readonly role?: PlatformRole | undefined;
  readonly banned?: boolean;
};

/** Newest first, because ids sort by the time of creation. */
export const selectUsers = (
  { search, role, banned = false }: UserFilter,
  place: string | null,
  rows: number,
): Promise<UserRow[]> => {
  const start = startsWith(search ?? "");
  return database()
    .select()
    .from(user)
    .where(
      and(
        search === undefined
          ? undefined
          : or(eq(user.id, search), like(sql`lower(${user.email})`, start), like(sql`lower(${user.name})`, start)),
        role === undefined
          ? undefined
          : and(sql`${user.platformRoles} <> '{user}'`, sql`${user.platformRoles} @> ARRAY[${role}]::text[]`),
        banned ? isBanned : undefined,
        place === null ? undefined : lt(user.id, place),
      ),
    )
    .orderBy(desc(user.id))
    .limit(rows);
};
