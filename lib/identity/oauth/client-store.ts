import { and, asc, count, eq } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { oauthClient } from "#lib/identity/oauth-tables.ts";

export type ClientRow = {
  readonly clientId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly createdBy: string;
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
export async function insertClient(tx: Tx, { organizationId, redirectUris, ...row }: ClientRow): Promise<void> {
  await tx.insert(oauthClient).values({
    ...row,
    id: crypto.randomUUID(),
    referenceId: organizationId,
    redirectUris: [...redirectUris],
    tokenEndpointAuthMethod: "none",
    grantTypes: ["authorization_code", "refresh_token"],
    requirePKCE: true,
  });
}

export async function findClient(clientId: string): Promise<ClientRow | null> {
  const [row] = await database().select(columns).from(oauthClient).where(eq(oauthClient.clientId, clientId));
  return row ?? null;
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
