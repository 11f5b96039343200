import { and, desc, eq, inArray, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { ofOwnMandates, within, type Reader } from "#lib/db/scope.ts";
import type { Caller } from "#lib/http/operation.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { isLive, roleOf, subjectLives } from "#lib/identity/live-store.ts";
import { apiKeys, member, serviceAccounts, session, user } from "#lib/identity/tables.ts";
import { authorizationColumns, type AuthorizationRow } from "#lib/holds/authorization-store.ts";
import { authorizations, credentialClaims, executions } from "#lib/holds/tables.ts";
import type { SellerState } from "#lib/holds/execution-rules.ts";
import { holderOfNonce } from "#lib/onchain/registry/nonce-slot-store.ts";
import { payeeStop } from "#lib/sellers/stop-store.ts";
import { resources } from "#lib/sellers/tables.ts";
import type { Capability, SettlementStatus } from "#lib/vocabulary.ts";
import type { Credential } from "#lib/x402/credential.ts";

export type { AuthorizationRow };
export type ExecutionRow = typeof executions.$inferSelect;
export type NewExecution = typeof executions.$inferInsert;
type Db = Database | Tx;

/** The statuses of an execution that pays or may still pay. An authorization has at most one such execution. */
const live: readonly SettlementStatus[] = ["pending", "processing", "unknown", "settled"];

const readableBy = (owner: Reader) => and(within(authorizations, owner), ofOwnMandates(authorizations.mandateId, owner));

export async function findAuthorization(db: Db, owner: Reader, authorizationId: string): Promise<AuthorizationRow | null> {
  const [row] = await db
    .select(authorizationColumns)
    .from(authorizations)
    .where(and(eq(authorizations.authorizationId, authorizationId), readableBy(owner)));
  return row ?? null;
}

export async function authorizationOf(db: Db, execution: Pick<ExecutionRow, "authorizationId">): Promise<AuthorizationRow> {
  const [row] = await db
    .select(authorizationColumns)
    .from(authorizations)
    .where(eq(authorizations.authorizationId, execution.authorizationId));
  if (!row) throw new Error("An execution has no authorization.");
  return row;
}

export async function hasLiveExecution(db: Db, authorizationId: string): Promise<boolean> {
  const rows = await db
    .select({ executionId: executions.executionId })
    .from(executions)
    .where(and(eq(executions.authorizationId, authorizationId), inArray(executions.settlementStatus, [...live])))
    .limit(1);
  return rows.length > 0;
}

export async function findExecution(db: Db, owner: Reader, executionId: string): Promise<ExecutionRow | null> {
  const [row] = await db
    .select()
    .from(executions)
    .where(and(eq(executions.executionId, executionId), within(executions, owner), ofOwnMandates(executions.mandateId, owner)));
  return row ?? null;
}

/** A caller that will change the status must call lockMandate first, so that no other transaction changes it. */
export async function reloadExecution(tx: Tx, executionId: string): Promise<ExecutionRow> {
  const [row] = await tx.select().from(executions).where(eq(executions.executionId, executionId));
  if (!row) throw new Error("An execution is gone.");
  return row;
}

export async function executionInSlot(db: Db, slot: string): Promise<ExecutionRow | null> {
  const [row] = await db.select().from(executions).where(eq(executions.slot, slot));
  return row ?? null;
}

export async function executionsOf(db: Db, authorizationIds: readonly string[]): Promise<readonly ExecutionRow[]> {
  if (authorizationIds.length === 0) return [];
  return db
    .select()
    .from(executions)
    .where(inArray(executions.authorizationId, [...authorizationIds]))
    .orderBy(desc(executions.executionId));
}

/** Records permanently which authorization, settlement or registration owns the nonce. False if it was recorded before. */
export async function claimCredential(
  tx: Tx,
  credential: Credential,
  { authorizationId, organizationId }: { readonly authorizationId: string; readonly organizationId: string },
): Promise<boolean> {
  const { chain, token: tokenAddress, payer, nonce } = credential;
  const rows = await tx
    .insert(credentialClaims)
    .values({ chain, tokenAddress, payer, nonce, authorizationId, organizationId })
    .onConflictDoNothing()
    .returning({ nonce: credentialClaims.nonce });
  return rows.length === 1;
}

type Nonce = Pick<Credential, "chain" | "token" | "payer" | "nonce">;

/** The id of the authorization, settlement without a mandate, or registration that owns the nonce. Null if nothing owns it. */
export async function ownerOfNonce(db: Db, { chain, token, payer, nonce }: Nonce): Promise<string | null> {
  const [row] = await db
    .select({ owner: credentialClaims.authorizationId })
    .from(credentialClaims)
    .where(
      and(
        eq(credentialClaims.chain, chain),
        eq(credentialClaims.tokenAddress, token),
        eq(credentialClaims.payer, payer),
        eq(credentialClaims.nonce, nonce),
      ),
    );
  return row?.owner ?? null;
}

/** Like ownerOfNonce, but a nonce that a registration gave to a payment belongs to that payment's authorization. */
export async function claimOf(db: Db, credential: Nonce): Promise<string | null> {
  const owner = await ownerOfNonce(db, credential);
  return owner === null ? null : ((await holderOfNonce(db, owner, credential.nonce)) ?? owner);
}

/** Null if another execution has the same slot. */
export async function insertExecution(tx: Tx, row: NewExecution): Promise<ExecutionRow | null> {
  const [inserted] = await tx.insert(executions).values(row).onConflictDoNothing({ target: executions.slot }).returning();
  return inserted ?? null;
}

export async function updateExecution(tx: Tx, executionId: string, change: Partial<NewExecution>): Promise<ExecutionRow> {
  const [updated] = await tx.update(executions).set(change).where(eq(executions.executionId, executionId)).returning();
  return updated!;
}

/** The role of the person who allowed an OAuth client. */
const roleOfAllower = sql<string | null>`${sql.raw(roleOf("api_keys.organization_id", "api_keys.created_by"))}`;

const paying: readonly Capability[] = ["payments:execute", "orders:place", "payments:settle"];

/** Whether the role still gives the capabilities to pay that the caller had when the request began. */
const stillPays = (caller: Caller, role: string): boolean => {
  const held = capabilitiesOfRole(membershipRoleOf(role));
  return paying.every((capability) => held.has(capability) || !caller.capabilities.has(capability));
};

/** Call this after enterGate, so that no revocation is missed. OAuth tokens depend on the person's role, but keys do not. */
export async function callerIsLive(tx: Tx, caller: Caller): Promise<boolean> {
  if (caller.kind === "key") {
    const rows = await tx
      .select({ byToken: sql<boolean>`${apiKeys.clientId} IS NOT NULL AND ${apiKeys.secretHash} = ''`, role: roleOfAllower })
      .from(apiKeys)
      .innerJoin(serviceAccounts, eq(serviceAccounts.serviceAccountId, apiKeys.serviceAccountId))
      .where(and(eq(apiKeys.keyId, caller.keyId), isLive.key, isLive.account, isNull(serviceAccounts.pausedAt)));
    return rows.some(({ byToken, role }) => !byToken || (role !== null && stillPays(caller, role)));
  }
  const rows = await tx
    .select({ role: member.role })
    .from(session)
    .innerJoin(member, eq(member.userId, session.userId))
    .innerJoin(user, eq(user.id, member.userId))
    .where(
      and(
        eq(session.id, caller.sessionId),
        isLive.session,
        eq(member.organizationId, caller.organizationId ?? ""),
        isLive.person,
      ),
    );
  return rows.some(({ role }) => stillPays(caller, role));
}

/** An emergency stop finds an unregistered seller by its domain or its payee address. */
export async function sellerStateOf(tx: Tx, { sellerId, resourceId, payTo, intent }: AuthorizationRow): Promise<SellerState> {
  const offers = async (): Promise<boolean> => {
    if (sellerId === null || resourceId === null) return true;
    const rows = await tx
      .select({ resourceId: resources.resourceId })
      .from(resources)
      .where(and(eq(resources.sellerId, sellerId), eq(resources.resourceId, resourceId), isNull(resources.archivedAt)));
    return rows.length === 1;
  };
  const domain = intent.seller.domain ?? null;
  const [stop, isOffered] = await Promise.all([payeeStop(tx, { sellerId, domain, payTo }), offers()]);
  if (stop !== null) return "stopped";
  return isOffered ? "offering" : "archived";
}

export async function subjectIsLive(tx: Tx, { subjectId, organizationId }: ExecutionRow): Promise<boolean> {
  const [row] = await tx.execute<{ live: boolean }>(sql`
    SELECT ${sql.raw(subjectLives("w.organization_id", "w.subject_id"))} AS live
    FROM (SELECT ${organizationId}::text AS organization_id, ${subjectId}::text AS subject_id) AS w`);
  return row?.live === true;
}

export type PaymentFilter = {
  readonly mandateId?: string | undefined;
  readonly outcome?: string | undefined;
  readonly settlementStatus?: string | undefined;
  readonly authorizationIds?: readonly string[] | undefined;
};

/** Newest first, after the id `place`. */
export function listAuthorizations(
  db: Db,
  owner: Reader,
  { mandateId, outcome, settlementStatus, authorizationIds }: PaymentFilter,
  place: string | null,
  limit: number,
) {
  const { authorizationId } = authorizations;
  return db
    .select(authorizationColumns)
    .from(authorizations)
    .where(
      and(
        readableBy(owner),
        mandateId === undefined ? undefined : eq(authorizations.mandateId, mandateId),
        outcome === undefined ? undefined : eq(authorizations.outcome, outcome),
        place === null ? undefined : lt(authorizationId, place),
        settlementStatus === undefined
          ? undefined
          : sql`EXISTS (SELECT FROM ${executions} e WHERE e.authorization_id = ${authorizationId} AND e.settlement_status = ${settlementStatus})`,
        authorizationIds === undefined ? undefined : inArray(authorizationId, [...authorizationIds]),
      ),
    )
    .orderBy(desc(authorizationId))
    .limit(limit);
}

/** The constraint executions_checked gives these rows a next check, so PostgreSQL can use the small index of due checks. */
export const hasNoOutcome = and(
  isNotNull(executions.nextCheckAt),
  inArray(executions.settlementStatus, ["pending", "processing", "unknown"]),
);
