import { and, asc, count, eq, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { oauthClient } from "#lib/identity/oauth-tables.ts";

export type ClientRow = {
  readonly clientId: string;
  /** Null for a client that described itself. */
  readonly organizationId: string | null;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly createdBy: string | null;
  readonly createdAt: Date;
};

const columns = {
  clientId: oauthClient.clientId,
  organizationId: oauthClient.referenceId,
  name: oauthClient.name,
  redirectUris: oauthClient.redirectUris,
  createdBy: oauthClient.createdBy,
  createdAt: oauthClient.createdAt,
};

/** A public client has no secret, so it must use PKCE. */
const valuesOf = ({ organizationId, redirectUris, ...row }: ClientRow) => ({
  ...row,
  id: crypto.randomUUID(),
  referenceId: organizationId,
  redirectUris: [...redirectUris],
  tokenEndpointAuthMethod: "none",
  grantTypes: ["authorization_code", "refresh_token"],
  requirePKCE: true,
});

export async function insertClient(tx: Tx, row: ClientRow): Promise<void> {
  await tx.insert(oauthClient).values(valuesOf(row));
}

const now = sql`statement_timestamp()`;
const notExpired = sql`(${oauthClient.expiresAt} IS NULL OR ${oauthClient.expiresAt} > ${now})`;
const unused = isNotNull(oauthClient.expiresAt);

export async function findClient(clientId: string): Promise<ClientRow | null> {
  const [row] = await database()
    .select(columns)
    .from(oauthClient)
    .where(and(eq(oauthClient.clientId, clientId), notExpired));
  return row ?? null;
}

/** How long a client that described itself waits for a person. */
const UNUSED_SECONDS = 86_400;
/** A person who reads the consent page has at least this time before a flood of registrations can remove the client. */
const SAFE_SECONDS = 600;

/** Deletes the oldest unused client that is not too young. Returns false if there is none. */
async function makeRoom(tx: Tx): Promise<boolean> {
  const [oldest] = await tx
    .select({ id: oauthClient.id })
    .from(oauthClient)
    .where(lt(oauthClient.expiresAt, sql`${now} + make_interval(secs => ${UNUSED_SECONDS - SAFE_SECONDS})`))
    .orderBy(asc(oauthClient.expiresAt))
    .limit(1)
    .for("update", { skipLocked: true });
  if (oldest) await tx.delete(oauthClient).where(eq(oauthClient.id, oldest.id));
  return oldest !== undefined;
}

async function isInUse(tx: Tx, clientId: string): Promise<boolean> {
  const [row] = await tx
    .select({ clientId: oauthClient.clientId })
    .from(oauthClient)
    .where(and(eq(oauthClient.clientId, clientId), isNull(oauthClient.expiresAt)));
  return row !== undefined;
}

/** The lock counts registrations at the same time one after the other. */
async function findRoom(tx: Tx, most: number): Promise<boolean> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended('clients that described themselves', 0))`);
  const [waiting] = await tx.select({ count: count() }).from(oauthClient).where(unused);
  return (waiting?.count ?? 0) < most || makeRoom(tx);
}

/**
 * Stores a client that described itself, or its new description. At most `most` clients wait for a first person at any time; a
 * new one then takes the place of the oldest. Returns false if there is no room; a client in use needs none.
 */
export async function admitClient(tx: Tx, row: ClientRow, most: number): Promise<boolean> {
  if (!(await isInUse(tx, row.clientId)) && !(await findRoom(tx, most))) return false;
  const expiresAt = sql`clock_timestamp() + make_interval(secs => ${UNUSED_SECONDS})`;
  const { name, redirectUris } = row;
  await tx
    .insert(oauthClient)
    .values({ ...valuesOf(row), updatedAt: sql`clock_timestamp()`, expiresAt })
    .onConflictDoUpdate({
      target: oauthClient.clientId,
      set: {
        name,
        redirectUris: [...redirectUris],
        updatedAt: sql`excluded.updated_at`,
        expiresAt: sql`CASE WHEN ${oauthClient.expiresAt} IS NULL THEN NULL ELSE excluded.expires_at END`,
      },
    });
  return true;
}

/** Keeps a client that described itself, because a person allows it in this transaction. Returns false if it is gone. */
export async function keepClient(tx: Tx, clientId: string): Promise<boolean> {
  const kept = await tx
    .update(oauthClient)
    .set({ expiresAt: null })
    .where(and(eq(oauthClient.clientId, clientId), isNull(oauthClient.referenceId), notExpired))
    .returning({ clientId: oauthClient.clientId });
  return kept.length === 1;
}

/** The client cannot be removed before this transaction ends. */
export async function lockClient(tx: Tx, organizationId: string, clientId: string): Promise<ClientRow | null> {
  const [row] = await tx
    .select(columns)
    .from(oauthClient)
    .where(and(eq(oauthClient.clientId, clientId), eq(oauthClient.referenceId, organizationId)))
    .for("key share");
  return row ?? null;
}

/** Waits for transactions that locked the client (lockClient), so that the caller then sees all connections of the client. */
export async function deleteClient(tx: Tx, organizationId: string, clientId: string): Promise<ClientRow | null> {
  const [row] = await tx
    .delete(oauthClient)
    .where(and(eq(oauthClient.clientId, clientId), eq(oauthClient.referenceId, organizationId)))
    .returning(columns);
  return row ?? null;
}

export const clientsOf = (organizationId: string, rows: number): Promise<ClientRow[]> =>
  database()
    .select(columns)
    .from(oauthClient)
    .where(eq(oauthClient.referenceId, organizationId))
    .orderBy(asc(oauthClient.createdAt), asc(oauthClient.clientId))
    .limit(rows);

/** The caller must have locked the organization, so that no other transaction adds a client before this one commits. */
export async function countClients(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(oauthClient).where(eq(oauthClient.referenceId, organizationId));
  return row?.count ?? 0;
}
