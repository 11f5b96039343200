import { and, asc, desc, eq, isNotNull, sql } from "drizzle-orm";
import { bulkInsert } from "#lib/db/bulk.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { columnsOf } from "#lib/db/rows.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import type { Sql } from "#lib/db/sql.ts";
import { holdOf } from "#lib/holds/hold-store.ts";
import { paymentRecords, recordedPayments } from "#lib/holds/record-tables.ts";
import { changedReservations } from "#lib/holds/tables.ts";
import type { Atomic } from "#lib/money.ts";

export type RecordedRow = typeof recordedPayments.$inferSelect;
export type RecordRow = typeof paymentRecords.$inferSelect;

export type NewRecorded = Pick<
  RecordedRow,
  "authorizationId" | "organizationId" | "environment" | "mandateId" | "payeeKey" | "referenceKey" | "deadline" | "createdAt"
>;

const insertRows = bulkInsert<NewRecorded>(
  "recorded_payments",
  columnsOf<NewRecorded, typeof recordedPayments>(recordedPayments, {
    authorizationId: (row) => row.authorizationId,
    organizationId: (row) => row.organizationId,
    environment: (row) => row.environment,
    mandateId: (row) => row.mandateId,
    payeeKey: (row) => row.payeeKey,
    referenceKey: (row) => row.referenceKey,
    status: () => "open",
    deadline: (row) => row.deadline,
    createdAt: (row) => row.createdAt,
  }),
);

const keyOf = ({ payeeKey, referenceKey }: NewRecorded): string => `${referenceKey} ${payeeKey}`;

/**
 * `frees` is an authorization under which nothing was paid and nothing can be, so that its reference is given to the row. If one of them was
 * paid meanwhile, the unique index refuses the row, and the batch runs again.
 */
export function insertRecorded(
  c: Sql,
  recorded: readonly { readonly row: NewRecorded; readonly frees: string | null }[],
): PromiseLike<unknown>[] {
  if (recorded.length === 0) return [];
  const free = recorded.flatMap(({ frees }) => frees ?? []);
  // Sorted, so that batches take references in one order.
  const rows = insertRows(
    c,
    recorded.map(({ row }) => row).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  );
  if (free.length === 0) return [rows];
  return [
    c`UPDATE recorded_payments p SET reference_key = p.authorization_id
      WHERE p.authorization_id = ANY(${free}::text[]) AND p.paid = 0`,
    rows,
  ];
}

/** Call lockMandate before, which guards the payment's hold and sums too. Null unless the payment is made elsewhere. */
export async function recordedOf(db: Database | Tx, authorizationId: string): Promise<RecordedRow | null> {
  const [row] = await db.select().from(recordedPayments).where(eq(recordedPayments.authorizationId, authorizationId));
  return row ?? null;
}

/** The newest first. */
const recordsOf = (db: Database | Tx, authorizationId: string, limit = 100): Promise<RecordRow[]> =>
  db
    .select()
    .from(paymentRecords)
    .where(eq(paymentRecords.authorizationId, authorizationId))
    .orderBy(desc(paymentRecords.recordId))
    .limit(limit);

/** Null unless the payment is made elsewhere and held. */
export async function recordedWithParts(db: Database | Tx, authorizationId: string) {
  const recorded = await recordedOf(db, authorizationId);
  const hold = recorded && (await holdOf(db, authorizationId));
  return recorded && hold && { recorded, hold, records: await recordsOf(db, authorizationId) };
}

/** Payments about which a person is asked, the oldest first. */
export const askingRecords = (db: Database | Tx, scope: Scope, limit: number): Promise<RecordedRow[]> =>
  db
    .select()
    .from(recordedPayments)
    .where(and(within(recordedPayments, scope), isNotNull(recordedPayments.asks)))
    .orderBy(asc(recordedPayments.authorizationId))
    .limit(limit);

const SUMMED_MAX = 50_000;

/** The sums of at most SUMMED_MAX payments, in the mandate's unit. `kept` is held until somebody closes the payment. */
export function sumRecords(db: Database | Tx, organizationId: string, mandateId: string) {
  const { amount, status, captured, released } = changedReservations;
  const records = db
    .select({
      status,
      spent: sql`coalesce(${captured}, 0)`.as("spent"),
      open: sql`CASE WHEN ${status} IN ('held', 'submitted') THEN ${amount} - coalesce(${captured} + ${released}, 0) ELSE 0 END`.as(
        "open",
      ),
    })
    .from(recordedPayments)
    .innerJoin(changedReservations, eq(changedReservations.authorizationId, recordedPayments.authorizationId))
    .where(and(eq(recordedPayments.organizationId, organizationId), eq(recordedPayments.mandateId, mandateId)))
    .limit(SUMMED_MAX)
    .as("records");
  return db
    .select({
      isWhole: sql<boolean>`count(*) < ${SUMMED_MAX}`,
      spent: sql<Atomic>`coalesce(sum(${records.spent}), 0)`.mapWith(amount),
      open: sql<Atomic>`coalesce(sum(${records.open}), 0)`.mapWith(amount),
      kept: sql<Atomic>`coalesce(sum(${records.open}) FILTER (WHERE ${records.status} = 'submitted'), 0)`.mapWith(amount),
    })
    .from(records);
}

export async function insertRecord(tx: Tx, record: typeof paymentRecords.$inferInsert): Promise<RecordRow> {
  const [row] = await tx.insert(paymentRecords).values(record).returning();
  return row!;
}

type Change = Partial<Pick<RecordedRow, "paid" | "refunded" | "asks" | "status" | "closedBy" | "closedAt">>;

export async function changeRecorded(tx: Tx, authorizationId: string, changes: Change): Promise<RecordedRow> {
  const [row] = await tx
    .update(recordedPayments)
    .set(changes)
    .where(eq(recordedPayments.authorizationId, authorizationId))
    .returning();
  if (!row) throw new Error("A recorded payment has no row.");
  return row;
}

/** A scalar subquery, which looks up each hold by its key. */
const ofHold = (is: string) => sql`(SELECT ${sql.raw(is)} FROM changed_reservations
  WHERE authorization_id = ${recordedPayments.authorizationId} LIMIT 1)`;
const isLate = sql`${recordedPayments.status} = 'open' AND ${recordedPayments.asks} IS NULL
  AND ${recordedPayments.deadline} <= statement_timestamp()`;
/** A hold that is not kept waits for a person, or ended because nobody approved it. */
const isDue = and(isLate, ofHold("captured IS NOT NULL"));

/** Open payments whose deadline has passed, and about which nobody was asked. */
export const dueRecords = (db: Database, limit: number): Promise<RecordedRow[]> =>
  db.select().from(recordedPayments).where(isDue).orderBy(asc(recordedPayments.deadline)).limit(limit);

/** Closes payments that nobody approved, so that nobody is asked about them. Nothing of them is held, and nothing was paid. */
export const closeUnapproved = (db: Database) =>
  db
    .update(recordedPayments)
    .set({ status: "closed", closedAt: sql`statement_timestamp()` })
    .where(and(isLate, ofHold("captured IS NULL AND status IN ('released', 'expired')")));

/** False if the payment was closed or asked about meanwhile. */
export async function askOverdue(tx: Tx, authorizationId: string): Promise<boolean> {
  const rows = await tx
    .update(recordedPayments)
    .set({ asks: "overdue" })
    .where(and(eq(recordedPayments.authorizationId, authorizationId), isDue))
    .returning({ authorizationId: recordedPayments.authorizationId });
  return rows.length > 0;
}
