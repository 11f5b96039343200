import { and, eq, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { currentVersion } from "#lib/mandates/store.ts";
import { mandates, mandateSellers, mandateVersions, resolutions, usageBuckets } from "#lib/mandates/tables.ts";
import { reservations } from "#lib/holds/tables.ts";
import type { LedgerKind, ReservationStatus } from "#lib/vocabulary.ts";

export type Hold = typeof reservations.$inferSelect;
export type MandateRow = typeof mandates.$inferSelect;

/** Locks the mandate's row. Each transaction that changes the mandate's budget, holds or executions takes this lock first. */
export async function lockMandate(tx: Tx, mandateId: string): Promise<MandateRow | null> {
  const [row] = await tx.select().from(mandates).where(eq(mandates.mandateId, mandateId)).for("no key update");
  return row ?? null;
}

/** Locks the mandate's row, or returns null if another transaction has locked it. For the sweep of expired holds, which must not wait. */
export async function lockMandateIfFree(tx: Tx, mandateId: string): Promise<MandateRow | null> {
  const [row] = await tx
    .select()
    .from(mandates)
    .where(eq(mandates.mandateId, mandateId))
    .for("no key update", { skipLocked: true });
  return row ?? null;
}

export const selectHold = (tx: Tx | Database, authorizationId: string) =>
  tx.select().from(reservations).where(eq(reservations.authorizationId, authorizationId));

/** The hold of an authorization. A caller that changes the hold must hold the mandate's lock. */
export async function holdOf(tx: Tx | Database, authorizationId: string): Promise<Hold | null> {
  const [row] = await selectHold(tx, authorizationId);
  return row ?? null;
}

const book = async (tx: Tx, hold: Hold, kind: LedgerKind): Promise<void> => {
  const { organizationId, mandateId, authorizationId, amount } = hold;
  await tx.insert(resolutions).values({ ledgerId: newId("ledger"), organizationId, mandateId, authorizationId, kind, amount });
};

const setStatus = async (tx: Tx, hold: Hold, status: ReservationStatus): Promise<void> => {
  const resolvedAt = status === "submitted" ? null : sql`clock_timestamp()`;
  await tx.update(reservations).set({ status, resolvedAt }).where(eq(reservations.authorizationId, hold.authorizationId));
};

type Change = { readonly spent: bigint; readonly reserved: bigint; readonly payments: number };

/**
 * Adds `change` to the lifetime sums on the mandate's row and to the usage buckets of the hold. With `raise`, used only for overruns, it
 * raises the ceilings so that the new sums do not violate them.
 */
async function move(tx: Tx, hold: Hold, change: Change, raise = false): Promise<void> {
  const raised = (used: unknown, ceiling: unknown) =>
    raise ? { ceiling: sql`greatest(${ceiling}, ${used} + ${change.spent.toString()}::numeric)` } : {};
  const amounts = (table: typeof mandates | typeof usageBuckets) => ({
    spent: sql`${table.spent} + ${change.spent.toString()}::numeric`,
    reserved: sql`${table.reserved} + ${change.reserved.toString()}::numeric`,
    ...raised(sql`${table.spent} + ${table.reserved}`, table.ceiling),
  });
  const lifetime = tx.update(mandates).set(amounts(mandates)).where(eq(mandates.mandateId, hold.mandateId));
  const own = hold.buckets.map(([key, start]) => and(eq(usageBuckets.windowKey, key), eq(usageBuckets.start, new Date(start))));
  const windows = tx
    .update(usageBuckets)
    .set({ ...amounts(usageBuckets), payments: sql`${usageBuckets.payments} + ${change.payments}` })
    .where(and(eq(usageBuckets.mandateId, hold.mandateId), or(...own)));
  await Promise.all([lifetime, own.length > 0 && windows]);
}

/**
 * Marks the hold as submitted, because the credential is about to be sent. From now on, only evidence from the chain captures or releases
 * the hold.
 */
export const submitHold = (tx: Tx, hold: Hold): Promise<void> => setStatus(tx, hold, "submitted");

/** Moves the expiry of a hold to a later time, because a person approved the payment or extended the request. */
export async function extendHold(tx: Tx, { authorizationId }: Hold, expiresAt: Date): Promise<void> {
  await tx.update(reservations).set({ expiresAt }).where(eq(reservations.authorizationId, authorizationId));
}

/** Captures the hold, because the money moved. If the hold was already released or expired, the amount is recorded as an overrun. */
export async function captureHold(tx: Tx, hold: Hold): Promise<{ readonly overrun: boolean }> {
  const overrun = hold.status === "released" || hold.status === "expired";
  const change = overrun ? { reserved: 0n, payments: 1 } : { reserved: -hold.amount, payments: 0 };
  await Promise.all([
    move(tx, hold, { spent: hold.amount, ...change }, overrun),
    setStatus(tx, hold, "captured"),
    book(tx, hold, overrun ? "overrun" : "capture"),
  ]);
  return { overrun };
}

/** Releases the hold, because the money did not move and can no longer move. */
export async function releaseHold(tx: Tx, hold: Hold, as: "released" | "expired"): Promise<void> {
  await Promise.all([
    move(tx, hold, { spent: 0n, reserved: -hold.amount, payments: -1 }),
    setStatus(tx, hold, as),
    book(tx, hold, as === "expired" ? "expire" : "release"),
  ]);
}

/**
 * Records that the mandate has paid the seller. The approval mode firstPayment asks a person only for sellers that were not paid before.
 */
export async function rememberSeller(tx: Tx, mandateId: string, sellerId: string | null): Promise<void> {
  if (sellerId === null) return;
  await tx
    .insert(mandateSellers)
    .values({ mandateId, sellerId, firstPaidAt: sql`clock_timestamp()` })
    .onConflictDoNothing();
}

export async function suspendMandate(tx: Tx, mandateId: string): Promise<void> {
  await tx
    .update(mandates)
    .set({ status: "suspended", updatedAt: sql`clock_timestamp()` })
    .where(and(eq(mandates.mandateId, mandateId), eq(mandates.status, "active")));
}

/** The amount that is spent or reserved now, for each window that has not ended. */
export async function liveUsage(tx: Tx, mandateId: string): Promise<ReadonlyMap<string, bigint>> {
  const rows = await tx
    .select({ windowKey: usageBuckets.windowKey, used: sql<string>`sum(${usageBuckets.spent} + ${usageBuckets.reserved})` })
    .from(usageBuckets)
    .where(and(eq(usageBuckets.mandateId, mandateId), sql`${usageBuckets.liveUntil} > clock_timestamp()`))
    .groupBy(usageBuckets.windowKey);
  return new Map(rows.map(({ windowKey, used }) => [windowKey, BigInt(used)]));
}

/** The mandate's usage and its current policy. */
export async function usageAndPolicy(tx: Tx, mandateId: string) {
  const { spent, reserved, chain, asset } = mandates;
  const [row] = await tx
    .select({ spent, reserved, chain, asset, policy: mandateVersions.policy })
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(eq(mandates.mandateId, mandateId));
  return row ?? null;
}

/**
 * The ids of mandates with holds to release: holds that expired, or any hold under a revoked mandate. In id order, after `place`. It takes
 * no lock, so the caller reads the holds again under the mandate's lock.
 */
export async function mandatesWithDueHolds(
  db: Pick<Tx, "execute">,
  { place, limit }: { readonly place: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db.execute<{ mandate_id: string }>(sql`
    SELECT mandate_id FROM reservations
    WHERE status = 'held' AND resolved_at IS NULL AND expires_at <= (SELECT clock_timestamp()) AND mandate_id > ${place}
    UNION SELECT mandate_id FROM mandates WHERE status = 'revoked' AND reserved > 0 AND mandate_id > ${place}
    ORDER BY mandate_id LIMIT ${limit}`);
  return rows.map((row) => row.mandate_id);
}

/**
 * Releases up to `limit` holds of a mandate: those that expired, or any if the mandate is revoked. Submitted holds stay. The caller holds
 * the mandate's lock. A thousand holds cost four statements, because their amounts are summed first. Returns the ids of the authorizations
 * whose holds were released.
 */
export async function expireHolds(tx: Tx, mandate: MandateRow, limit: number): Promise<readonly string[]> {
  const due = mandate.status === "revoked" ? sql`true` : lte(reservations.expiresAt, sql`clock_timestamp()`);
  const mine = tx
    .select({ authorizationId: reservations.authorizationId })
    .from(reservations)
    .where(
      and(eq(reservations.mandateId, mandate.mandateId), eq(reservations.status, "held"), isNull(reservations.resolvedAt), due),
    )
    .limit(limit);
  const holds = await tx
    .update(reservations)
    .set({ status: "expired", resolvedAt: sql`clock_timestamp()` })
    .where(inArray(reservations.authorizationId, mine))
    .returning();
  await bookLetGo(tx, mandate, holds, "expire");
  return holds.map(({ authorizationId }) => authorizationId);
}

/**
 * Releases those holds of the given authorizations that were not submitted, and returns the ids of their authorizations. The caller holds
 * the mandate's lock.
 */
export async function releaseHolds(tx: Tx, mandate: MandateKey, authorizationIds: readonly string[]): Promise<readonly string[]> {
  if (authorizationIds.length === 0) return [];
  const holds = await tx
    .update(reservations)
    .set({ status: "released", resolvedAt: sql`clock_timestamp()` })
    .where(and(inArray(reservations.authorizationId, [...authorizationIds]), eq(reservations.status, "held")))
    .returning();
  await bookLetGo(tx, mandate, holds, "release");
  return holds.map(({ authorizationId }) => authorizationId);
}

type MandateKey = Pick<MandateRow, "mandateId" | "organizationId">;

async function bookLetGo(tx: Tx, mandate: MandateKey, holds: readonly Hold[], kind: "expire" | "release"): Promise<void> {
  if (holds.length === 0) return;
  const total = holds.reduce((sum, hold) => sum + hold.amount, 0n);
  await tx
    .update(mandates)
    .set({ reserved: sql`${mandates.reserved} - ${total.toString()}::numeric` })
    .where(eq(mandates.mandateId, mandate.mandateId));
  await tx.execute(sql`
    UPDATE usage_buckets AS b SET reserved = b.reserved - x.amount, payments = b.payments - x.payments
    FROM json_to_recordset(${JSON.stringify(sumBuckets(holds))}::json) AS x(window_key text, start timestamptz, amount numeric, payments integer)
    WHERE b.mandate_id = ${mandate.mandateId} AND b.window_key = x.window_key AND b.start = x.start`);
  const entries = holds.map((hold) => ({
    id: newId("ledger"),
    authorization: hold.authorizationId,
    amount: hold.amount.toString(),
  }));
  await tx.execute(sql`
    INSERT INTO resolutions (ledger_id, organization_id, mandate_id, authorization_id, kind, amount)
    SELECT x.id, ${mandate.organizationId}, ${mandate.mandateId}, x."authorization", ${kind}, x.amount
    FROM json_to_recordset(${JSON.stringify(entries)}::json) AS x(id text, "authorization" text, amount numeric)`);
}

function sumBuckets(holds: readonly Hold[]) {
  const sums = new Map<string, { window_key: string; start: string; amount: bigint; payments: number }>();
  for (const hold of holds) {
    for (const [key, start] of hold.buckets) {
      const at = `${key} ${start}`;
      const sum = sums.get(at) ?? { window_key: key, start: new Date(start).toISOString(), amount: 0n, payments: 0 };
      sums.set(at, { ...sum, amount: sum.amount + hold.amount, payments: sum.payments + 1 });
    }
  }
  return [...sums.values()].map((sum) => ({ ...sum, amount: sum.amount.toString() }));
}
