import type { PlatformRole } from "#lib/vocabulary.ts";
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { account, member, passkey, session, user } from "#lib/identity/tables.ts";
import { isBanned, isLive } from "#lib/identity/live-store.ts";

export type UserRow = typeof user.$inferSelect;

/** The same rule as that of live-store.ts, for a row. */
export const bannedNow = ({ banned, banExpires }: Pick<UserRow, "banned" | "banExpires">, now: Date): boolean =>
  banned && (banExpires === null || banExpires > now);

export async function findUser(db: Database | Tx, userId: string): Promise<UserRow | null> {
  const [row] = await db.select().from(user).where(eq(user.id, userId));
  return row ?? null;
}

/** Until the end of the transaction, nothing else changes the person, and only one onboarding of the person runs. */
export async function lockUser(tx: Tx, userId: string): Promise<UserRow | null> {
  const [row] = await tx.select().from(user).where(eq(user.id, userId)).for("no key update");
  return row ?? null;
}

/** Without enterGate or closeGate before, the session may end before the commit. */
export async function isLiveSession(tx: Tx, sessionId: string): Promise<boolean> {
  const rows = await tx
    .select({ id: session.id })
    .from(session)
    .where(and(eq(session.id, sessionId), isLive.session));
  return rows.length === 1;
}

/** Returns true only to the first caller. */
export async function markAudited(tx: Tx, userId: string): Promise<boolean> {
  const marked = await tx
    .update(user)
    .set({ auditedAt: sql`statement_timestamp()` })
    .where(and(eq(user.id, userId), isNull(user.auditedAt)))
    .returning({ id: user.id });
  return marked.length === 1;
}

export async function newestOrganizationOf(userId: string): Promise<string | null> {
  const [row] = await database()
    .select({ organizationId: member.organizationId })
    .from(member)
    .where(eq(member.userId, userId))
    .orderBy(desc(member.createdAt), desc(member.id))
    .limit(1);
  return row?.organizationId ?? null;
}

/** Null for a person without a password. */
export async function passwordHashOf(userId: string): Promise<string | null> {
  const [row] = await database()
    .select({ password: account.password })
    .from(account)
    .where(and(eq(account.userId, userId), eq(account.providerId, "credential")));
  return row?.password ?? null;
}

/** Returns false if the stored hash is no longer `from`. */
export async function replacePassword(tx: Tx, userId: string, from: string, to: string): Promise<boolean> {
  const rows = await tx
    .update(account)
    .set({ password: to, updatedAt: sql`statement_timestamp()` })
    .where(and(eq(account.userId, userId), eq(account.providerId, "credential"), eq(account.password, from)))
    .returning({ id: account.id });
  return rows.length === 1;
}

/** Links by mail still work; the person who set up the account may not own its email address. */
export async function endWaysIn(userId: string): Promise<void> {
  await database().transaction(async (tx) => {
    await tx.delete(account).where(eq(account.userId, userId));
    await tx.delete(passkey).where(eq(passkey.userId, userId));
    await tx.delete(session).where(eq(session.userId, userId));
  });
}

/** If better-auth stopped between the steps in which it creates a wallet's account, the wallet could not sign in again. */
export async function completeWallet(address: string, chainId: number): Promise<void> {
  await database().execute(sql`
    INSERT INTO wallet_address (id, user_id, address, chain_id, is_primary)
    SELECT ${crypto.randomUUID()}, u.id, ${address}, ${chainId}, true FROM "user" u
    WHERE u.email = ${`${address.toLowerCase()}@siwe.placeholder.invalid`}
      AND NOT EXISTS (SELECT FROM wallet_address w WHERE w.user_id = u.id)
    ON CONFLICT DO NOTHING`);
}

export async function setPlatformRoles(tx: Tx, userId: string, platformRoles: PlatformRole[]): Promise<void> {
  await tx.update(user).set({ platformRoles }).where(eq(user.id, userId));
}

export type Person = { readonly email: string; readonly name: string; readonly banned: boolean };

/** Locks person, then session, as banUser does, so that the two cannot deadlock; null if the session ended. */
export async function lockPersonOf(tx: Tx, userId: string, sessionId: string): Promise<Person | null> {
  const [person] = await tx
    .select({ email: user.email, name: user.name, banned: isBanned })
    .from(user)
    .where(eq(user.id, userId))
    .for("no key update");
  const live = await tx
    .select({ id: session.id })
    .from(session)
    .where(and(eq(session.id, sessionId), eq(session.userId, userId), isLive.session))
    .for("key share");
  return person && live.length === 1 ? person : null;
}
