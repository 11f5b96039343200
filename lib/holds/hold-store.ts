import { and, eq, inArray, or, sql, type SQL } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { currentVersion } from "#lib/mandates/store.ts";
import { mandates, mandateSellers, mandateVersions, resolutions, usageBuckets } from "#lib/mandates/tables.ts";
import { expiredIn, heldRows, holdColumns, openColumns, type Span } from "#lib/holds/sweep-store.ts";
import { changedReservations, reservations } from "#lib/holds/tables.ts";
import {
  applied,
  captureEntries,
  countsAsPayment,
  openOf,
  storedAfter,
  sumsOf,
  type LedgerEntry,
  type StoredSums,
} from "#lib/holds/sums.ts";
import { atomicOf, zero, type Atomic } from "#lib/money.ts";

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

/** What has become of a hold, and what is open of it. */
export const partsOf = (hold: StoredSums) => {
  const sums = sumsOf(hold);
  return { ...sums, open: openOf(sums) };
};
export type Parts = ReturnType<typeof partsOf>;

export const selectHold = (tx: Tx | Database, authorizationId: string) =>
  tx.select().from(reservations).where(eq(reservations.authorizationId, authorizationId));

/** Only a caller of lockMandate may change the hold. */
export async function holdOf(tx: Tx | Database, authorizationId: string): Promise<Hold | null> {
  const [row] = await selectHold(tx, authorizationId);
  return row ?? null;
}

/** Of a payment that was denied and paid nevertheless. Stored with its first change. Call countIn before, if the mandate has windows. */
export const emptyHold = (
  payment: Pick<Hold, "authorizationId" | "organizationId" | "mandateId" | "buckets" | "expiresAt" | "createdAt">,
): Hold => ({
  ...payment,
  // Does not count as a payment before its first change.
  status: "released",
  amount: zero,
  approvalKey: null,
  resolvedAt: null,
  captured: zero,
  released: zero,
  refunded: zero,
});

const book = (tx: Tx, hold: Hold, entries: readonly LedgerEntry[]) => {
  const { organizationId, mandateId, authorizationId } = hold;
  const rows = entries.map((entry) => ({ ledgerId: newId("ledger"), organizationId, mandateId, authorizationId, ...entry }));
  return tx.insert(resolutions).values(rows);
};

type HoldChange = Partial<StoredSums> & {
  readonly approvalKey?: string | null;
  readonly expiresAt?: Date;
  readonly resolvedAt?: SQL | null;
};

/** An unchanged hold has no row of its own, so its first change inserts the row. */
async function change(tx: Tx, hold: Hold, changes: HoldChange): Promise<void> {
  await tx
    .insert(changedReservations)
    .values({ ...hold, ...changes })
    .onConflictDoUpdate({
      target: [changedReservations.authorizationId, changedReservations.mandateId],
      set: { ...changes, ...(changes.resolvedAt && { resolvedAt: sql`excluded.resolved_at` }) },
    });
}

type Sums = { readonly spent: bigint; readonly reserved: bigint; readonly payments: number };

/**
 * The database refuses sums above a ceiling; `raise` raises it, only for money that moved or is held elsewhere although nothing was
 * held for it. A ceiling that is null must stay null, so that later payments have no limit that the mandate does not name.
 */
async function move(tx: Tx, hold: Hold, sums: Sums, raise: boolean): Promise<void> {
  const raised = (used: SQL, ceiling: unknown) => {
    const least = sql`${used} + ${(sums.spent + sums.reserved).toString()}::numeric`;
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

/**
 * Changes the sums of a hold, of its mandate and of its windows, and the ledger. Call lockMandate before. Returns the hold after it.
 * @throws RangeError if more is captured, released or refunded than there is
 */
async function enter(tx: Tx, hold: Hold, entries: readonly LedgerEntry[]): Promise<Hold> {
  const last = entries.at(-1);
  if (!last) return hold;
  const before = sumsOf(hold);
  const after = applied(before, entries);
  const stored = storedAfter(hold, after, last.kind);
  const sums = {
    spent: after.captured - before.captured,
    reserved: openOf(after) - openOf(before),
    payments: Number(countsAsPayment(stored)) - Number(countsAsPayment(hold)),
  };
  const isMoved = sums.spent !== 0n || sums.reserved !== 0n;
  await Promise.all([
    isMoved &&
      move(
        tx,
        hold,
        sums,
        entries.some(({ kind }) => kind === "overrun" || kind === "raise"),
      ),
    // A refund comes after the end, and is none.
    change(tx, hold, { ...stored, ...(isMoved && { resolvedAt: openOf(after) > zero ? null : sql`clock_timestamp()` }) }),
    book(tx, hold, entries),
  ]);
  return { ...hold, ...stored };
}

/** From now on, only the outcome of the payment captures or releases the hold. */
export const submitHold = (tx: Tx, hold: Hold): Promise<void> => change(tx, hold, { status: "submitted", resolvedAt: null });

export const extendHold = (tx: Tx, hold: Hold, expiresAt: Date): Promise<void> => change(tx, hold, { expiresAt });

/** Holds more for the same payment, because it is held elsewhere. It counts even above a limit. */
export const raiseHold = (tx: Tx, hold: Hold, amount: Atomic): Promise<Hold> => enter(tx, hold, [{ kind: "raise", amount }]);

/**
 * Call this when money moved; without `amount`, all that was held. What moved although nothing is open for it is an overrun.
 * @returns the hold after it, and the amount of the overrun
 */
export async function captureHold(
  tx: Tx,
  hold: Hold,
  amount: Atomic = hold.amount,
): Promise<{ readonly hold: Hold; readonly overrun: Atomic }> {
  const entries = captureEntries(sumsOf(hold), amount);
  const overrun = entries.find(({ kind }) => kind === "overrun")?.amount ?? zero;
  return { hold: await enter(tx, hold, entries), overrun };
}

/** Call this only if this money did not move and can no longer move; without `amount`, all that is open. */
export const releaseHold = (tx: Tx, hold: Hold, as: "released" | "expired", amount = openOf(sumsOf(hold))): Promise<Hold> =>
  enter(tx, hold, [{ kind: as === "expired" ? "expire" : "release", amount }]);

/** Money that was captured came back. The budget stays used. */
export const refundHold = (tx: Tx, hold: Hold, amount: Atomic): Promise<Hold> => enter(tx, hold, [{ kind: "refund", amount }]);

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

/** `amount` was open, and `payments` is 0 if a part was captured. */
type LetGo = Pick<Hold, "authorizationId" | "amount" | "buckets"> & { readonly payments: number };

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
  return endHolds(tx, mandate, sql`SELECT ${holdColumns}, ${openColumns} FROM (${chosen}) AS chosen`, "release");
}

async function endHolds(tx: Tx, mandate: MandateKey, held: SQL, kind: "expire" | "release"): Promise<readonly string[]> {
  const status = kind === "expire" ? "expired" : "released";
  const holds = await tx.execute<Omit<LetGo, "amount"> & { readonly amount: string }>(sql`
    WITH held AS MATERIALIZED (${held}),
      ended AS (
        INSERT INTO changed_reservations (${holdColumns}, released, status, resolved_at)
        SELECT ${holdColumns}, amount - captured, CASE WHEN captured > 0 THEN 'captured' ELSE ${status} END, clock_timestamp() FROM held
        ON CONFLICT (authorization_id, mandate_id) DO UPDATE
        SET status = excluded.status, released = excluded.released, resolved_at = excluded.resolved_at)
    SELECT authorization_id AS "authorizationId", open::text AS amount, buckets,
      CASE WHEN captured > 0 THEN 0 ELSE 1 END AS payments FROM held`);
  await bookLetGo(
    tx,
    mandate,
    holds.map((hold) => ({ ...hold, amount: atomicOf(hold.amount) })),
    kind,
  );
  return holds.map(({ authorizationId }) => authorizationId);
}

type MandateKey = Pick<MandateRow, "mandateId" | "organizationId">;

async function bookLetGo(tx: Tx, mandate: MandateKey, holds: readonly LetGo[], kind: "expire" | "release"): Promise<void> {
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

function sumBuckets(holds: readonly LetGo[]) {
  const sums = new Map<string, { window_key: string; start: string; amount: bigint; payments: number }>();
  for (const hold of holds) {
    for (const [key, start] of hold.buckets) {
      const at = `${key} ${start}`;
      const sum = sums.get(at) ?? { window_key: key, start: new Date(start).toISOString(), amount: 0n, payments: 0 };
      sums.set(at, { ...sum, amount: sum.amount + hold.amount, payments: sum.payments + hold.payments });
    }
  }
  return [...sums.values()].map((sum) => ({ ...sum, amount: sum.amount.toString() }));
}
