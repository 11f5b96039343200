import { and, asc, eq, getTableColumns, inArray, isNotNull, isNull, lte, not, or, sql } from "drizzle-orm";
import type { ApprovalRow, CheckoutRow, NewCheckout, ReviewRow } from "#lib/approvals/checkout-rows.ts";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { ofOwnMandates, within, type Reader, type Scope } from "#lib/db/scope.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { organization, serviceAccounts } from "#lib/identity/tables.ts";
import { wholeIntent } from "#lib/holds/authorization-store.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { currentVersion } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

type Db = Database | Tx;
export type { Scope };

/** A restricted agent sees checkouts of its mandates and those it opened. */
export function owned(reader: Reader, checkoutIntentId: string) {
  const ofMandates = ofOwnMandates(checkoutIntents.mandateId, reader);
  const own = ofMandates && or(ofMandates, eq(checkoutIntents.ownerSubjectId, reader.subjectId ?? ""));
  return and(eq(checkoutIntents.checkoutIntentId, checkoutIntentId), within(checkoutIntents, reader), own);
}

export async function findCheckout(db: Db, scope: Reader, checkoutIntentId: string): Promise<CheckoutRow | null> {
  const [row] = await db.select().from(checkoutIntents).where(owned(scope, checkoutIntentId));
  return row ?? null;
}

/** A transaction that locks the mandate too must lock it first, or two transactions can deadlock. */
export async function lockCheckout(tx: Tx, scope: Reader, checkoutIntentId: string): Promise<CheckoutRow | null> {
  const [row] = await tx.select().from(checkoutIntents).where(owned(scope, checkoutIntentId)).for("no key update");
  return row ?? null;
}

export async function lockCheckoutOf(tx: Tx, authorizationId: string): Promise<CheckoutRow | null> {
  const [row] = await tx
    .select()
    .from(checkoutIntents)
    .where(eq(checkoutIntents.authorizationId, authorizationId))
    .for("no key update");
  return row ?? null;
}

export async function findCheckoutOf(db: Db, authorizationId: string): Promise<CheckoutRow | null> {
  const [row] = await db.select().from(checkoutIntents).where(eq(checkoutIntents.authorizationId, authorizationId));
  return row ?? null;
}

export async function findApproval(db: Db, checkoutIntentId: string): Promise<ApprovalRow | null> {
  const [row] = await db.select().from(checkoutApprovals).where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
  return row ?? null;
}

export async function findApprovalById(db: Db, scope: Scope, approvalId: string): Promise<ApprovalRow | null> {
  const [row] = await db
    .select()
    .from(checkoutApprovals)
    .where(and(eq(checkoutApprovals.approvalId, approvalId), eq(checkoutApprovals.organizationId, scope.organizationId)));
  return row ?? null;
}

/** `tokenHash` is the SHA-256 of the continuation token. */
export async function findApprovalByToken(db: Db, scope: Scope, tokenHash: string): Promise<ApprovalRow | null> {
  const [row] = await db
    .select()
    .from(checkoutApprovals)
    .where(
      and(eq(checkoutApprovals.continuationTokenHash, tokenHash), eq(checkoutApprovals.organizationId, scope.organizationId)),
    );
  return row ?? null;
}

/** Finds only a checkout that has not reserved an amount. */
export async function lockOpenTwin(
  tx: Tx,
  { organizationId }: Scope,
  mandateId: string | null,
  basketHash: string,
): Promise<CheckoutRow | null> {
  const [row] = await tx
    .select()
    .from(checkoutIntents)
    .where(
      and(
        eq(checkoutIntents.organizationId, organizationId),
        sql`coalesce(mandate_id, '') = ${mandateId ?? ""}`,
        eq(checkoutIntents.basketHash, basketHash),
        inArray(checkoutIntents.status, [...openStatuses]),
        isNull(checkoutIntents.authorizationId),
      ),
    )
    .for("no key update");
  return row ?? null;
}

/** False if another request has opened a checkout for the same basket and mandate first. */
export async function insertCheckout(tx: Tx, row: NewCheckout): Promise<boolean> {
  const rows = await tx
    .insert(checkoutIntents)
    .values(row)
    .onConflictDoNothing()
    .returning({ id: checkoutIntents.checkoutIntentId });
  return rows.length === 1;
}

/** The caller has locked the row. A trigger refuses changes of the status that are not allowed. */
export async function setCheckoutStatus(
  tx: Tx,
  checkoutIntentId: string,
  status: CheckoutStatus,
  now: Date,
): Promise<CheckoutRow> {
  const [row] = await tx
    .update(checkoutIntents)
    .set({ status, updatedAt: now })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId))
    .returning();
  return row!;
}

export async function undecidedAmong(tx: Tx, authorizationIds: readonly string[]): Promise<readonly string[]> {
  const rows = await tx
    .select({ authorizationId: checkoutIntents.authorizationId })
    .from(checkoutIntents)
    .where(
      and(
        inArray(checkoutIntents.authorizationId, [...authorizationIds]),
        inArray(checkoutIntents.status, [...openStatuses, "approved"]),
      ),
    );
  return rows.flatMap(({ authorizationId }) => authorizationId ?? []);
}

/** The caller has the mandate's lock, so that no payment of these checkouts starts at the same time. */
export function expireRedeemed(tx: Tx, authorizationIds: readonly string[]): Promise<readonly CheckoutRow[]> {
  return tx
    .update(checkoutIntents)
    .set({ status: "expired", updatedAt: sql`statement_timestamp()` })
    .where(and(eq(checkoutIntents.status, "authorized"), inArray(checkoutIntents.authorizationId, [...authorizationIds])))
    .returning();
}

export async function saveDetection(
  tx: Tx,
  { checkoutIntentId }: CheckoutRow,
  { detectedMandateId, mandateStatus }: Pick<CheckoutRow, "detectedMandateId" | "mandateStatus">,
): Promise<CheckoutRow> {
  const [row] = await tx
    .update(checkoutIntents)
    .set({ detectedMandateId, mandateStatus })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId))
    .returning();
  return row!;
}

/** The caller has locked the row and allows this only once per checkout. */
export async function saveExtension(tx: Tx, { checkoutIntentId }: CheckoutRow, expiresAt: Date, now: Date): Promise<CheckoutRow> {
  const [row] = await tx
    .update(checkoutIntents)
    .set({ expiresAt, extendedAt: now, updatedAt: now })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId))
    .returning();
  return row!;
}

export async function endsOf(db: Db, { authorizationId, mandateId }: CheckoutRow): Promise<readonly Date[]> {
  const [intent] =
    authorizationId === null
      ? []
      : await db.select({ intent: wholeIntent }).from(authorizations).where(eq(authorizations.authorizationId, authorizationId));
  const [mandate] =
    mandateId === null
      ? []
      : await db
          .select({ policy: mandateVersions.policy })
          .from(mandates)
          .innerJoin(mandateVersions, currentVersion)
          .where(eq(mandates.mandateId, mandateId));
  return [intent?.intent.expiresAt, mandate?.policy.validUntil].flatMap((end) => (end === undefined ? [] : [new Date(end)]));
}

export async function insertDecision(tx: Tx, row: ApprovalRow): Promise<void> {
  await tx.insert(checkoutApprovals).values(row);
}

/** Null if the approval is no longer pending. */
export async function endApproval(
  tx: Tx,
  approvalId: string,
  status: "consumed" | "expired" | "revoked",
  now: Date,
  takenBackBySubjectId: string | null = null,
): Promise<ApprovalRow | null> {
  const continuationTokenStatus = status === "consumed" ? "redeemed" : status;
  const [row] = await tx
    .update(checkoutApprovals)
    .set({ status, continuationTokenStatus, takenBackBySubjectId, resolvedAt: now })
    .where(and(eq(checkoutApprovals.approvalId, approvalId), eq(checkoutApprovals.status, "pending")))
    .returning();
  return row ?? null;
}

/** Returns the terms that the session was shown before, or null. */
export async function saveReview(tx: Tx, review: ReviewRow): Promise<ReviewRow | null> {
  const { sessionId, checkoutIntentId, ...seen } = review;
  const [before] = await tx
    .select()
    .from(checkoutReviews)
    .where(and(eq(checkoutReviews.sessionId, sessionId), eq(checkoutReviews.checkoutIntentId, checkoutIntentId)));
  await tx
    .insert(checkoutReviews)
    .values(review)
    .onConflictDoUpdate({ target: [checkoutReviews.sessionId, checkoutReviews.checkoutIntentId], set: seen });
  return before ?? null;
}

/** `agent` is null if a person asks for the payment. */
export async function findAsker(db: Db, { ownerSubjectId, organizationId }: CheckoutRow) {
  const [agent] = await db
    .select({ name: serviceAccounts.name, revokedAt: serviceAccounts.revokedAt, pausedAt: serviceAccounts.pausedAt })
    .from(serviceAccounts)
    .where(eq(serviceAccounts.serviceAccountId, ownerSubjectId));
  const [own] = await db.select({ name: organization.name }).from(organization).where(eq(organization.id, organizationId));
  return {
    agent: agent ? { name: agent.name, active: agent.revokedAt === null, paused: agent.pausedAt !== null } : null,
    organizationName: own?.name ?? organizationId,
  };
}

export async function findSellerRecord(db: Db, sellerId: string) {
  const [row] = await db.select().from(sellers).where(eq(sellers.sellerId, sellerId));
  return row ?? null;
}

/** Takes no locks: the caller locks and reads each checkout again before it changes the checkout. */
export const dueCheckouts = (db: Db, limit: number) =>
  db
    .select()
    .from(checkoutIntents)
    .where(and(inArray(checkoutIntents.status, [...openStatuses]), lte(checkoutIntents.expiresAt, sql`clock_timestamp()`)))
    .orderBy(asc(checkoutIntents.expiresAt))
    .limit(limit);

/** Undecided checkouts whose authorized payment cannot be paid any more, because its mandate or its agent was revoked. */
export const revokedCheckouts = (db: Db, limit: number) =>
  db
    .select(getTableColumns(checkoutIntents))
    .from(checkoutIntents)
    .innerJoin(mandates, eq(mandates.mandateId, checkoutIntents.mandateId))
    .leftJoin(serviceAccounts, eq(serviceAccounts.serviceAccountId, checkoutIntents.ownerSubjectId))
    .where(
      and(
        inArray(checkoutIntents.status, [...openStatuses]),
        isNotNull(checkoutIntents.authorizationId),
        or(eq(mandates.status, "revoked"), not(isLive.account)),
      ),
    )
    .limit(limit);

export const dueApprovals = (db: Db, limit: number) =>
  db
    .select({ approval: checkoutApprovals, environment: checkoutIntents.environment })
    .from(checkoutApprovals)
    .innerJoin(checkoutIntents, eq(checkoutIntents.checkoutIntentId, checkoutApprovals.checkoutIntentId))
    .leftJoin(mandates, eq(mandates.mandateId, checkoutApprovals.mandateId))
    .leftJoin(serviceAccounts, eq(serviceAccounts.serviceAccountId, checkoutApprovals.agentId))
    .where(
      and(
        eq(checkoutApprovals.status, "pending"),
        or(lte(checkoutApprovals.expiresAt, sql`clock_timestamp()`), eq(mandates.status, "revoked"), not(isLive.account)),
      ),
    )
    .limit(limit);

/** Callers compare two texts to notice a change; a change from previewed to awaiting_approval does not change the text. */
export const decisionOf = (status: string, approvalStatus: string | null): string =>
  `${(openStatuses as readonly string[]).includes(status) ? "open" : status} ${approvalStatus ?? ""}`;

export async function statesOf(db: Db, checkoutIntentIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .select({ id: checkoutIntents.checkoutIntentId, status: checkoutIntents.status, approval: checkoutApprovals.status })
    .from(checkoutIntents)
    .leftJoin(checkoutApprovals, eq(checkoutApprovals.checkoutIntentId, checkoutIntents.checkoutIntentId))
    .where(inArray(checkoutIntents.checkoutIntentId, [...checkoutIntentIds]));
  return new Map(rows.map(({ id, status, approval }) => [id, decisionOf(status, approval)]));
}
