import type { PlatformRole } from "#lib/vocabulary.ts";
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { account, member, passkey, session, user } from "#lib/identity/tables.ts";

/** True for the one caller that finds the user not yet audited. */
export async function markAudited(tx: Tx, userId: string): Promise<boolean> {
  const marked = await tx
    .update(user)
    .set({ auditedAt: sql`clock_timestamp()` })
    .where(and(eq(user.id, userId), isNull(user.auditedAt)))
    .returning({ id: user.id });
  return marked.length === 1;
}

/** Where a person who signs in goes on: the organization joined last. */
export async function newestOrganizationOf(userId: string): Promise<string | null> {
  const [row] = await database()
    .select({ organizationId: member.organizationId })
    .from(member)
    .where(eq(member.userId, userId))
    .orderBy(desc(member.createdAt), desc(member.id))
    .limit(1);
  return row?.organizationId ?? null;
}

/** As better-auth stores it; null for a person who signs in otherwise. */
export async function passwordHashOf(userId: string): Promise<string | null> {
  const [row] = await database()
    .select({ password: account.password })
    .from(account)
    .where(and(eq(account.userId, userId), eq(account.providerId, "credential")));
  return row?.password ?? null;
}

/** False where the password is another one by now. */
export async function replacePassword(tx: Tx, userId: string, from: string, to: string): Promise<boolean> {
  const rows = await tx
    .update(account)
    .set({ password: to, updatedAt: sql`clock_timestamp()` })
    .where(and(eq(account.userId, userId), eq(account.providerId, "credential"), eq(account.password, from)))
    .returning({ id: account.id });
  return rows.length === 1;
}

/** Ends every way into an account but its mailbox, and every session: whoever began it may not be whose address it is. */
export async function endWaysIn(userId: string): Promise<void> {
  await database().transaction(async (tx) => {
    await tx.delete(account).where(eq(account.userId, userId));
    await tx.delete(passkey).where(eq(passkey.userId, userId));
    await tx.delete(session).where(eq(session.userId, userId));
  });
}

/**
 * better-auth makes the account of a wallet in several steps, each for itself. One that was cut off in between would keep its address
 * taken for ever: whoever proves the wallet gets the account that was begun for it.
 */
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
