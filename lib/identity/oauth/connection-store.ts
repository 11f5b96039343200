import { and, desc, eq, inArray, isNull, sql, type SQL } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { oauthAccessToken, oauthClient, oauthRefreshToken } from "#lib/identity/oauth-tables.ts";
import { isLive, live } from "#lib/identity/live-store.ts";
import { apiKeys, keyUses, member, serviceAccounts, user } from "#lib/identity/tables.ts";

export type ConnectionRow = {
  readonly connectionId: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly serviceAccountId: string;
  readonly serviceAccountName: string;
  readonly capabilities: readonly string[];
  readonly scopes: readonly string[] | null;
  readonly connectedBy: string;
  readonly connectedByName: string | null;
  readonly connectedAt: Date;
  readonly lastUsedAt: Date | null;
};

const columns = {
  connectionId: apiKeys.keyId,
  clientId: sql<string>`${apiKeys.clientId}`,
  clientName: oauthClient.name,
  serviceAccountId: serviceAccounts.serviceAccountId,
  serviceAccountName: serviceAccounts.name,
  capabilities: serviceAccounts.capabilities,
  scopes: apiKeys.scopes,
  connectedBy: sql<string>`${apiKeys.createdBy}`,
  connectedByName: user.name,
  connectedAt: apiKeys.createdAt,
  lastUsedAt: keyUses.lastUsedAt,
};

/** A connection younger than CODE_SECONDS (five minutes) is usable too, because its authorization code may be valid. */
const usable = sql`(${apiKeys.secretHash} <> '' OR ${apiKeys.createdAt} > clock_timestamp() - interval '5 minutes'
  OR EXISTS (SELECT FROM ${oauthRefreshToken} t WHERE t.reference_id = ${apiKeys.keyId} AND ${sql.raw(live.token("t"))})
  OR EXISTS (SELECT FROM ${oauthAccessToken} t WHERE t.reference_id = ${apiKeys.keyId} AND ${sql.raw(live.token("t"))}))`;

const liveConnection = (organizationId: string): SQL | undefined =>
  and(eq(serviceAccounts.organizationId, organizationId), sql`${apiKeys.clientId} IS NOT NULL`, isLive.key, isLive.account);

const joined = (db: Database | Tx) =>
  db
    .select(columns)
    .from(apiKeys)
    .innerJoin(serviceAccounts, eq(serviceAccounts.serviceAccountId, apiKeys.serviceAccountId))
    .leftJoin(oauthClient, eq(oauthClient.clientId, apiKeys.clientId))
    .leftJoin(user, eq(user.id, apiKeys.createdBy))
    .leftJoin(keyUses, eq(keyUses.keyId, apiKeys.keyId));

/** A client that uses tokens is listed only while the person who allowed the client is a member. */
export const connectionsOf = (organizationId: string, rows: number): Promise<ConnectionRow[]> =>
  joined(database())
    .where(
      and(
        liveConnection(organizationId),
        usable,
        sql`(${apiKeys.secretHash} <> '' OR EXISTS (SELECT FROM ${member} m
          WHERE m.organization_id = ${apiKeys.organizationId} AND m.user_id = ${apiKeys.createdBy}))`,
      ),
    )
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.keyId))
    .limit(rows);

export async function findConnection(tx: Tx, organizationId: string, connectionId: string): Promise<ConnectionRow | null> {
  const [row] = await joined(tx).where(and(liveConnection(organizationId), eq(apiKeys.keyId, connectionId)));
  return row ?? null;
}

/** Also deletes the tokens; returns the ids of the connections that were not revoked before. */
async function end(tx: Tx, which: SQL | undefined, revokedAt: Date): Promise<string[]> {
  const ended = await tx
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(which, isNull(apiKeys.revokedAt)))
    .returning({ keyId: apiKeys.keyId });
  const keyIds = ended.map(({ keyId }) => keyId);
  if (keyIds.length === 0) return keyIds;
  await tx.delete(oauthAccessToken).where(inArray(oauthAccessToken.referenceId, keyIds));
  await tx.delete(oauthRefreshToken).where(inArray(oauthRefreshToken.referenceId, keyIds));
  return keyIds;
}

/** Returns false if the connection was revoked already. */
export const endOneConnection = async (tx: Tx, connectionId: string, now: Date): Promise<boolean> =>
  (await end(tx, eq(apiKeys.keyId, connectionId), now)).length === 1;

export const endConnectionsOf = (tx: Tx, clientId: string, now: Date): Promise<string[]> =>
  end(tx, eq(apiKeys.clientId, clientId), now);
