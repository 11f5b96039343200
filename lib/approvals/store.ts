import { and, asc, eq, inArray, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { ApprovalRow, CheckoutRow, NewCheckout, ReviewRow } from "#lib/approvals/checkout-rows.ts";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { ofOwnMandates, within, type Reader, type Scope } from "#lib/db/scope.ts";
import { organization, serviceAccounts } from "#lib/identity/tables.ts";
import { wholeIntent } from "#lib/holds/authorization-store.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { currentVersion } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

type Db = Database | Tx;
export type { Scope };

/** SQL condition: the reader may see the checkout. A restricted agent sees checkouts of its mandates and those it opened. */
export function owned(reader: Reader, checkoutIntentId: string) {
  const ofMandates = ofOwnMandates(checkoutIntents.mandateId, reader);
  const own = ofMandates && or(ofMandates, eq(checkoutIntents.ownerSubjectId, reader.subjectId ?? ""));
  return and(eq(checkoutIntents.checkoutIntentId, checkoutIntentId), within(checkoutIntents, reader), own);
}

export async function findCheckout(db: Db, scope: Reader, checkoutIntentId: string): Promise<CheckoutRow | null> {
  const [row] = await db.select().from(checkoutIntents).where(owned(scope, checkoutIntentId));
  return row ?? null;
}

/** Locks a checkout. If the checkout has a mandate, the caller must lock the mandate first, or two transactions can deadlock. */
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

/** Finds an approval by the SHA-256 of its continuation token, which the agent sends to pay. */
export async function findApprovalByToken(db: Db, scope: Scope, tokenHash: string): Promise<ApprovalRow | null> {
  const [row] = await db
    .select()
    .from(checkoutApprovals)
    .where(
      and(eq(checkoutApprovals.continuationTokenHash, tokenHash), eq(checkoutApprovals.organizationId, scope.organizationId)),
    );
  return row ?? null;
}

/** Locks the open checkout with the same basket and mandate that has not reserved an amount, if any. */
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

/** Stores a new checkout. Returns false if another request has created one for the same basket and mandate first. */
export async function insertCheckout(tx: Tx, row: NewCheckout): Promise<boolean> {
  const rows = await tx
    .insert(checkoutIntents)
    .values(row)
    .onConflictDoNothing()
    .returning({ id: checkoutIntents.checkoutIntentId });
  return rows.length === 1;
}

type Change = Partial<Pick<CheckoutRow, "mandateId" | "authorizationId" | "orderId">>;

/** Changes the status of a checkout whose row the caller has locked. A trigger refuses changes that are not allowed. */
export async function setStatus(
  tx: Tx,
  checkoutIntentId: string,
  status: CheckoutStatus,
  now: Date,
  change: Change = {},
): Promise<CheckoutRow> {
  const [row] = await tx
    .update(checkoutIntents)
    .set({ ...change, status, updatedAt: now })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId))
    .returning();
  return row!;
}

/** Which of the given authorizations have a checkout that is undecided, or approved and not used yet. */
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

/**
 * Expires checkouts whose approval the agent used, but whose reserved amount was released before a signed payment was sent. The
 * caller holds the mandate's lock, so that no payment of these checkouts starts at the same time.
 */
export function expireRedeemed(tx: Tx, authorizationIds: readonly string[]): Promise<readonly CheckoutRow[]> {
  return tx
    .update(checkoutIntents)
    .set({ status: "expired", updatedAt: sql`clock_timestamp()` })
    .where(and(eq(checkoutIntents.status, "authorized"), inArray(checkoutIntents.authorizationId, [...authorizationIds])))
    .returning();
}

/** Stores in the checkout which mandate of the buyer could pay it, and whether that mandate can pay now. */
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

/** Extends the time for the decision about a checkout whose row is locked. The caller allows this only once per checkout. */
export async function extendCheckout(
  tx: Tx,
  { checkoutIntentId }: CheckoutRow,
  expiresAt: Date,
  now: Date,
): Promise<CheckoutRow> {
  const [row] = await tx
    .update(checkoutIntents)
    .set({ expiresAt, extendedAt: now, updatedAt: now })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId))
    .returning();
  return row!;
}

/** When the payment intent and the mandate of a checkout expire, if they do. */
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

/**
 * Ends a pending approval and its continuation token (with which the agent could pay). Returns null if the approval is no longer
 * pending.
 */
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

/** Saves the terms that this session is shown now, and returns the terms it was shown before, or null. */
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

/** The agent that asks for the payment, or null if a person asks for it, and the name of the organization. */
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

/**
 * Reads open checkouts that have expired, without locking them. The caller locks and reads each one again before it changes the
 * checkout.
 */
export const dueCheckouts = (db: Db, limit: number) =>
  db
    .select()
    .from(checkoutIntents)
    .where(and(inArray(checkoutIntents.status, [...openStatuses]), lte(checkoutIntents.expiresAt, sql`clock_timestamp()`)))
    .orderBy(asc(checkoutIntents.expiresAt))
    .limit(limit);

/** Reads unused approvals that have expired, or whose mandate or agent was revoked. */
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
        or(
          lte(checkoutApprovals.expiresAt, sql`clock_timestamp()`),
          eq(mandates.status, "revoked"),
          isNotNull(serviceAccounts.revokedAt),
        ),
      ),
    )
    .limit(limit);

/**
 * The state of a decision as text. Callers compare two texts to notice a change. The text does not change when a person opens the
 * page and the status goes from previewed to awaiting_approval.
 */
export const decisionOf = (status: string, approvalStatus: string | null): string =>
  `${(openStatuses as readonly string[]).includes(status) ? "open" : status} ${approvalStatus ?? ""}`;

/** Reads the states of decisions about many checkouts in one query, which serves all requests that wait for a decision. */
export async function statesOf(db: Db, checkoutIntentIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .select({ id: checkoutIntents.checkoutIntentId, status: checkoutIntents.status, approval: checkoutApprovals.status })
    .from(checkoutIntents)
    .leftJoin(checkoutApprovals, eq(checkoutApprovals.checkoutIntentId, checkoutIntents.checkoutIntentId))
    .where(inArray(checkoutIntents.checkoutIntentId, [...checkoutIntentIds]));
  return new Map(rows.map(({ id, status, approval }) => [id, decisionOf(status, approval)]));
}
