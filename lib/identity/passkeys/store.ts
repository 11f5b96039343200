import { and, asc, count, eq, gt, lt, or, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { account, passkey, passkeyChallenges, session, walletAddress } from "#lib/identity/tables.ts";

type Db = Database | Tx;
export type PasskeyRow = typeof passkey.$inferSelect;
export type ChallengeRow = typeof passkeyChallenges.$inferSelect;

export const passkeysOf = (db: Db, userId: string): Promise<PasskeyRow[]> =>
  db.select().from(passkey).where(eq(passkey.userId, userId)).orderBy(asc(passkey.id));

export async function findByCredential(userId: string, credentialID: string): Promise<PasskeyRow | null> {
  const [row] = await database()
    .select()
    .from(passkey)
    .where(and(eq(passkey.userId, userId), eq(passkey.credentialID, credentialID)));
  return row ?? null;
}

/** Returns null if this or another account has the same passkey already. */
export async function insertPasskey(tx: Tx, row: typeof passkey.$inferInsert): Promise<PasskeyRow | null> {
  const [inserted] = await tx.insert(passkey).values(row).onConflictDoNothing().returning();
  return inserted ?? null;
}

const own = (userId: string, passkeyId: string) => and(eq(passkey.id, passkeyId), eq(passkey.userId, userId));

export async function setPasskeyName(tx: Tx, userId: string, passkeyId: string, name: string): Promise<PasskeyRow | null> {
  const [row] = await tx.update(passkey).set({ name }).where(own(userId, passkeyId)).returning();
  return row ?? null;
}

export async function deletePasskey(tx: Tx, userId: string, passkeyId: string): Promise<PasskeyRow | null> {
  const [row] = await tx.delete(passkey).where(own(userId, passkeyId)).returning();
  return row ?? null;
}

export async function deletePasskeysOf(userId: string): Promise<void> {
  await database().delete(passkey).where(eq(passkey.userId, userId));
}

/** False if the passkey was removed or its counter did not rise, as with a copy; a passkey without a counter always sends 0. */
export async function countUse(tx: Tx, passkeyId: string, counter: number, now: Date): Promise<boolean> {
  const rows = await tx
    .update(passkey)
    .set({ counter, lastUsedAt: now })
    .where(
      and(eq(passkey.id, passkeyId), or(lt(passkey.counter, counter), and(eq(passkey.counter, 0), sql`${counter}::bigint = 0`))),
    )
    .returning({ id: passkey.id });
  return rows.length === 1;
}

/** better-auth checks the passkey and stores its counter. */
export async function noteSignIn(credentialID: string): Promise<void> {
  await database()
    .update(passkey)
    .set({ lastUsedAt: sql`statement_timestamp()` })
    .where(eq(passkey.credentialID, credentialID));
}

export async function insertPasskeyChallenge(tx: Tx, row: ChallengeRow): Promise<void> {
  await tx
    .delete(passkeyChallenges)
    .where(and(eq(passkeyChallenges.sessionId, row.sessionId), lt(passkeyChallenges.expiresAt, sql`statement_timestamp()`)));
  await tx.insert(passkeyChallenges).values(row);
}

/** The challenge can be used only once; null if there is none or it has expired. */
export async function takeChallenge(kind: string, sessionId: string, challenge: string): Promise<ChallengeRow | null> {
  const [row] = await database()
    .delete(passkeyChallenges)
    .where(
      and(
        eq(passkeyChallenges.challenge, challenge),
        eq(passkeyChallenges.kind, kind),
        eq(passkeyChallenges.sessionId, sessionId),
        gt(passkeyChallenges.expiresAt, sql`statement_timestamp()`),
      ),
    )
    .returning();
  return row ?? null;
}

/** The last proof of the person's identity in this session; null if the session no longer exists. */
export async function provedAt(db: Db, sessionId: string): Promise<Date | null> {
  const [row] = await db.select({ provedAt: session.provedAt }).from(session).where(eq(session.id, sessionId));
  return row?.provedAt ?? null;
}

export async function setProved(tx: Tx, sessionId: string, now: Date): Promise<void> {
  await tx.update(session).set({ provedAt: now }).where(eq(session.id, sessionId));
}

/** Passkeys are not listed; an account of the type "credential" counts only with a password. */
export async function otherWaysIn(db: Db, userId: string): Promise<readonly string[]> {
  const accounts = await db
    .select({ providerId: account.providerId, password: account.password })
    .from(account)
    .where(eq(account.userId, userId));
  const [wallets] = await db.select({ count: count() }).from(walletAddress).where(eq(walletAddress.userId, userId));
  const ways = accounts.filter(({ providerId, password }) => providerId !== "credential" || password !== null);
  const names = ways.map(({ providerId }) => (providerId === "credential" ? "emailPassword" : providerId));
  return [...new Set([...names.filter((name) => name !== "siwe"), ...((wallets?.count ?? 0) > 0 ? ["wallet"] : [])])];
}
