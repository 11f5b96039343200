import { and, eq, inArray, or, sql, type SQL } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { currentVersion } from "#lib/mandates/store.ts";
import { mandates, mandateSellers, mandateVersions, resolutions, usageBuckets } from "#lib/mandates/tables.ts";
import { expiredIn, heldRows, holdColumns, type Span } from "#lib/holds/sweep-store.ts";
import { changedReservations, reservations } from "#lib/holds/tables.ts";
import { atomicOf } from "#lib/money.ts";
import type { LedgerKind, ReservationStatus } from "#lib/vocabulary.ts";

export type Hold = typeof changedReservations.$inferSelect;
export type MandateRow = typeof mandates.$inferSelect;

/** Call this before changing the mandate's budget, its holds (reserved amounts) or the status of its executions. */
export async function lockMandate(tx: Tx, mandateId: string): Promise<MandateRow | null> {
  const [row] = await tx.select().from(mandates).where(eq(mandates.mandateId, mandateId)).for("no key update");
  return row ?? null;
}

/** Null if the row is locked, so that the worker that releases expired holds can do the other mandates first. */
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

/** Only a caller of lockMandate may change the hold. */
export async function holdOf(tx: Tx | Database, authorizationId: string): Promise<Hold | null> {
  const [row] = await selectHold(tx, authorizationId);
  return row ?? null;
}

const book = async (tx: Tx, hold: Hold, kind: LedgerKind): Promise<void> => {
  const { organizationId, mandateId, authorizationId, amount } = hold;
  await tx.insert(resolutions).values({ ledgerId: newId("ledger"), organizationId, mandateId, authorizationId, kind, amount });
};

type HoldChange = {
  readonly status?: ReservationStatus;
  readonly expiresAt?: Date;
  readonly resolvedAt?: SQL | null;
};

/** An unchanged hold has no row of its own, so its first change inserts the row. */
async function change(tx: Tx, hold: Hold, changes: HoldChange): Promise<void> {
  await tx
    .insert(changedReservations)
    .values({ ...hold, ...changes })
    .onConflictDoUpdate({
      target: changedReservations.authorizationId,
      set: { ...changes, ...(changes.resolvedAt && { resolvedAt: sql`excluded.resolved_at` }) },
    });
}

const setStatus = (tx: Tx, hold: Hold, status: ReservationStatus): Promise<void> =>
  change(tx, hold, { status, resolvedAt: status === "submitted" ? null : sql`clock_timestamp()` });

type Sums = { readonly spent: bigint; readonly reserved: bigint; readonly payments: number };

/**
 * The database refuses sums above a ceiling; `raise` raises it, only for money that moved after its reservation ended. A ceiling
 * that is null must stay null, so that later payments have no limit that the mandate does not name.
 */
async function move(tx: Tx, hold: Hold, sums: Sums, raise = false): Promise<void> {
  const raised = (used: SQL, ceiling: unknown) => {
    const least = sql`${used} + ${sums.spent.toString()}::numeric`;
    return raise ? { ceiling: sql`CASE WHEN ${ceiling} IS NOT NULL THEN greatest(${ceiling}, ${least}) END` } : {};
  };
  const amounts = (table: typeof mandates | typeof usageBuckets) => ({
    spent: sql`${table.spent} + ${sums.spent.toString()}::numeric`,
    reserved: sql`${table.reserved} + ${sums.reserved.toString()}::numeric`,
    ...raised(sql`${table.spent} + ${table.reserved}`, table.ceiling),
  });
  const lifetime = tx.update(mandates).set(amounts(mandates)).where(eq(mandates.mandateId, hold.mandateId));
  const own = hold.buckets.map(([key, start]) => and(eq(usageBuckets.windowKey, key), eq(usageBuckets.start, new Date(start))));
  const windows = tx
    .update(usageBuckets)
    .set({ ...amounts(usageBuckets), payments: sql`${usageBuckets.payments} + ${sums.payments}` })
    .where(and(eq(usageBuckets.mandateId, hold.mandateId), or(...own)));
  await Promise.all([lifetime, own.length > 0 && windows]);
}

/** From now on, only the outcome of the execution captures or releases the hold. */
export const submitHold = (tx: Tx, hold: Hold): Promise<void> => setStatus(tx, hold, "submitted");

export const extendHold = (tx: Tx, hold: Hold, expiresAt: Date): Promise<void> => change(tx, hold, { expiresAt });

/** Call this when the money moved. If the hold was released or expired before, the amount is recorded as an overrun. */
export async function captureHold(tx: Tx, hold: Hold): Promise<{ readonly overrun: boolean }> {
  const overrun = hold.status === "released" || hold.status === "expired";
  const others = overrun ? { reserved: 0n, payments: 1 } : { reserved: -hold.amount, payments: 0 };
  await Promise.all([
    move(tx, hold, { spent: hold.amount, ...others }, overrun),
    setStatus(tx, hold, "captured"),
    book(tx, hold, overrun ? "overrun" : "capture"),
  ]);
  return { overrun };
}

/** Call this only if the money did not move and can no longer move. */
export async function releaseHold(tx: Tx, hold: Hold, as: "released" | "expired"): Promise<void> {
  await Promise.all([
    move(tx, hold, { spent: 0n, reserved: -hold.amount, payments: -1 }),
    setStatus(tx, hold, as),
    book(tx, hold, as === "expired" ? "expire" : "release"),
  ]);
}

/** With the approval mode firstPayment, a person is asked only about sellers that the mandate has not paid yet. */
export async function rememberSeller(tx: Tx, mandateId: string, sellerId: string | null): Promise<void> {
  if (sellerId === null) return;
  await tx
    .insert(mandateSellers)
    .values({ mandateId, sellerId, firstPaidAt: sql`clock_timestamp()` })
    .onConflictDoNothing();
}

/** Returns false if the mandate is not active; it then stays unchanged. */
export async function suspendActive(tx: Tx, mandateId: string): Promise<boolean> {
  const suspended = await tx
    .update(mandates)
    .set({ status: "suspended", updatedAt: sql`statement_timestamp()` })
    .where(and(eq(mandates.mandateId, mandateId), eq(mandates.status, "active")))
    .returning({ mandateId: mandates.mandateId });
  return suspended.length > 0;
}

/** Sums the amounts that are spent or reserved now, for each time window of the mandate's limits that has not ended. */
export async function liveUsage(tx: Tx, mandateId: string): Promise<ReadonlyMap<string, bigint>> {
  const rows = await tx
    .select({ windowKey: usageBuckets.windowKey, used: sql<string>`sum(${usageBuckets.spent} + ${usageBuckets.reserved})` })
    .from(usageBuckets)
    .where(and(eq(usageBuckets.mandateId, mandateId), sql`${usageBuckets.liveUntil} > clock_timestamp()`))
    .groupBy(usageBuckets.windowKey);
  return new Map(rows.map(({ windowKey, used }) => [windowKey, BigInt(used)]));
}

export async function usageAndPolicy(tx: Tx, mandateId: string) {
  const { spent, reserved, chain, asset } = mandates;
  const [row] = await tx
    .select({ spent, reserved, chain, asset, policy: mandateVersions.policy })
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(eq(mandates.mandateId, mandateId));
  return row ?? null;
}

type ReleasedHold = Pick<Hold, "authorizationId" | "amount" | "buckets">;

/** Releases at most `limit` holds that expired or, for a revoked mandate, any that is not submitted. Call lockMandate first. */
export async function expireHolds(tx: Tx, mandate: MandateRow, span: Span, limit: number): Promise<readonly string[]> {
  const due = mandate.status === "revoked" ? sql`true` : expiredIn(span);
  const mine = heldRows(span.since, sql`mandate_id = ${mandate.mandateId} AND ${due}`);
  return endHolds(tx, mandate, sql`SELECT * FROM (${mine}) AS mine LIMIT ${limit}`, "expire");
}

/** Submitted holds are kept. Returns the authorizations whose holds were released. Call lockMandate first. */
export async function releaseHolds(tx: Tx, mandate: MandateKey, authorizationIds: readonly string[]): Promise<readonly string[]> {
  if (authorizationIds.length === 0) return [];
  const chosen = tx
    .select()
    .from(reservations)
    .where(and(inArray(reservations.authorizationId, [...authorizationIds]), eq(reservations.status, "held")));
  return endHolds(tx, mandate, sql`SELECT ${holdColumns} FROM (${chosen}) AS chosen`, "release");
}

async function endHolds(tx: Tx, mandate: MandateKey, held: SQL, kind: "expire" | "release"): Promise<readonly string[]> {
  const status = kind === "expire" ? "expired" : "released";
  const holds = await tx.execute<{ authorizationId: string; amount: string; buckets: Hold["buckets"] }>(sql`
    INSERT INTO changed_reservations (${holdColumns}, status, resolved_at)
    SELECT held.*, ${status}, clock_timestamp() FROM (${held}) AS held
    ON CONFLICT (authorization_id) DO UPDATE SET status = excluded.status, resolved_at = excluded.resolved_at
    RETURNING authorization_id AS "authorizationId", amount::text AS amount, buckets`);
  await bookLetGo(
    tx,
    mandate,
    holds.map((hold) => ({ ...hold, amount: atomicOf(hold.amount) })),
    kind,
  );
  return holds.map(({ authorizationId }) => authorizationId);
}

type MandateKey = Pick<MandateRow, "mandateId" | "organizationId">;

async function bookLetGo(tx: Tx, mandate: MandateKey, holds: readonly ReleasedHold[], kind: "expire" | "release"): Promise<void> {
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

function sumBuckets(holds: readonly ReleasedHold[]) {
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
