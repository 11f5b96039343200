import { and, desc, eq, inArray, isNull, lt, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import type { NewApiKey } from "#lib/identity/keys/api-key.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { apiKeys, serviceAccounts } from "#lib/identity/tables.ts";
import type { Capability, Environment } from "#lib/vocabulary.ts";

export type ServiceAccountRow = {
  readonly serviceAccountId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly createdAt: Date;
  readonly revoked: boolean;
  readonly pausedAt: Date | null;
  readonly keyPreview: string;
};

/** Written as SQL text, because drizzle would leave out the table's name and compare a column of `k` with itself. */
const newestPreview = sql<string>`(
  SELECT k.preview FROM api_keys k WHERE k.service_account_id = service_accounts.service_account_id
  ORDER BY k.client_id IS NOT NULL, k.created_at DESC, k.key_id DESC LIMIT 1)`;

const columns = {
  serviceAccountId: serviceAccounts.serviceAccountId,
  organizationId: serviceAccounts.organizationId,
  name: serviceAccounts.name,
  capabilities: serviceAccounts.capabilities,
  createdAt: serviceAccounts.createdAt,
  revoked: sql<boolean>`${serviceAccounts.revokedAt} IS NOT NULL`,
  pausedAt: serviceAccounts.pausedAt,
  keyPreview: newestPreview,
};

type NewServiceAccount = {
  readonly serviceAccountId: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly capabilities: Capability[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly mandateIds?: string[] | null;
};

export async function insertServiceAccount(tx: Tx, row: NewServiceAccount): Promise<void> {
  await tx.insert(serviceAccounts).values(row);
}

type KeyOf = { readonly serviceAccountId: string; readonly organizationId: string };

export async function insertKey(
  tx: Tx,
  { serviceAccountId, organizationId }: KeyOf,
  key: NewApiKey,
  { createdBy, createdAt }: { readonly createdBy: string; readonly createdAt: Date },
): Promise<void> {
  const { keyId, secretHash, keyPreview: preview } = key;
  await tx.insert(apiKeys).values({ keyId, serviceAccountId, organizationId, secretHash, preview, createdBy, createdAt });
}

type Connection = {
  readonly keyId: string;
  readonly preview: string;
  readonly clientId: string;
  readonly scopes: readonly Capability[];
  readonly createdBy: string;
  readonly createdAt: Date;
};

/** The row of an OAuth client (a connection) is like that of an API key, but its `secretHash` is empty. */
export async function insertConnection(
  tx: Tx,
  { serviceAccountId, organizationId }: KeyOf,
  { scopes, ...row }: Connection,
): Promise<void> {
  await tx.insert(apiKeys).values({ ...row, scopes: [...scopes], serviceAccountId, organizationId, secretHash: "" });
}

/** Turns the row of an OAuth client into an API key; returns false if the row has a secret already or was revoked. */
export async function giveSecret(tx: Tx, { keyId, secretHash, keyPreview: preview }: NewApiKey): Promise<boolean> {
  const rows = await tx
    .update(apiKeys)
    .set({ secretHash, preview })
    .where(and(eq(apiKeys.keyId, keyId), eq(apiKeys.secretHash, ""), isNull(apiKeys.revokedAt)))
    .returning({ keyId: apiKeys.keyId });
  return rows.length === 1;
}

export async function lockServiceAccount(
  tx: Tx,
  organizationId: string,
  serviceAccountId: string,
): Promise<ServiceAccountRow | null> {
  const [row] = await tx
    .select(columns)
    .from(serviceAccounts)
    .where(and(eq(serviceAccounts.serviceAccountId, serviceAccountId), eq(serviceAccounts.organizationId, organizationId)))
    .for("no key update", { of: serviceAccounts });
  return row ?? null;
}

const liveKeysOf = (serviceAccountId: string) => and(eq(apiKeys.serviceAccountId, serviceAccountId), isLive.key);

/** Leaves out OAuth clients, because a rotation ends the listed keys, and an OAuth client would get no new key. */
export async function readLiveKeys(tx: Tx, serviceAccountId: string): Promise<readonly { readonly keyId: string }[]> {
  return tx
    .select({ keyId: apiKeys.keyId })
    .from(apiKeys)
    .where(and(liveKeysOf(serviceAccountId), isNull(apiKeys.clientId)))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.keyId));
}

export async function expireKey(tx: Tx, keyId: string, expiresAt: Date): Promise<void> {
  await tx
    .update(apiKeys)
    .set({ expiresAt: sql`least(${apiKeys.expiresAt}, ${expiresAt.toISOString()}::timestamptz)` })
    .where(eq(apiKeys.keyId, keyId));
}

export async function revokeKey(tx: Tx, keyId: string, revokedAt: Date): Promise<void> {
  await tx.update(apiKeys).set({ revokedAt }).where(eq(apiKeys.keyId, keyId));
}

export async function revokeAccountAndKeys(tx: Tx, serviceAccountId: string, revokedAt: Date): Promise<void> {
  await tx.update(serviceAccounts).set({ revokedAt }).where(eq(serviceAccounts.serviceAccountId, serviceAccountId));
  await tx
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(eq(apiKeys.serviceAccountId, serviceAccountId), isNull(apiKeys.revokedAt)));
}

/** Null resumes the account. */
export async function setPaused(tx: Tx, serviceAccountId: string, pausedAt: Date | null): Promise<void> {
  await tx.update(serviceAccounts).set({ pausedAt }).where(eq(serviceAccounts.serviceAccountId, serviceAccountId));
}

type PageOf = Scope & { readonly place: string | null; readonly rows: number };

export const findLiveServiceAccounts = (scope: Scope, ids: readonly string[]): Promise<ServiceAccountRow[]> =>
  database()
    .select(columns)
    .from(serviceAccounts)
    .where(and(within(serviceAccounts, scope), isLive.account, inArray(serviceAccounts.serviceAccountId, [...ids])));

export async function listLiveServiceAccounts({ place, rows, ...scope }: PageOf): Promise<ServiceAccountRow[]> {
  return database()
    .select(columns)
    .from(serviceAccounts)
    .where(
      and(
        within(serviceAccounts, scope),
        isLive.account,
        ...(place === null ? [] : [lt(serviceAccounts.serviceAccountId, place)]),
      ),
    )
    .orderBy(desc(serviceAccounts.serviceAccountId))
    .limit(rows);
}
