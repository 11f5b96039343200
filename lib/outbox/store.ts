import { and, asc, eq, getTableColumns, min, notInArray, sql, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { after, type DueTime } from "#lib/db/leases.ts";
import type { Full } from "#lib/outbox/fair-work.ts";

type OutboxTable = PgTable & { readonly status: PgColumn; readonly attempts: PgColumn };
type Row<T extends PgTable> = T["$inferSelect"];

/** A table whose rows are stored in the transaction that causes them, and are worked on when they are due. */
export type Outbox<T extends OutboxTable = OutboxTable> = {
  readonly table: T;
  /** Names a row, or the rows that are handled together. */
  readonly id: PgColumn;
  /** The key of the column with the next attempt or, while a worker has the row, with the end of its lease. */
  readonly due: "nextAttemptAt" | "dueAt";
  /** The status of rows that have not ended: the condition of the index on the due column. */
  readonly waiting: string;
  /** At least the longest time ahead of now at which any code makes a row due, except rows that `farAhead` names. */
  readonly longest: DueTime["longest"];
  readonly farAhead?: SQL;
  /** What is deleted from a row when it ends. */
  readonly ending?: Partial<Row<T>>;
};

export const named = (box: Outbox, id: string): SQL => eq(box.id, id);
const dueOf = ({ table, due }: Outbox): PgColumn => getTableColumns(table)[due] as PgColumn;

/** Not a parameter, because PostgreSQL must know the value to use the index. */
const waitingOf = ({ waiting }: Outbox): SQL => sql.raw(`'${waiting}'`);
const isWaiting = (box: Outbox): SQL => sql`${box.table.status} = ${waitingOf(box)}`;
export const hasEnded = (box: Outbox): SQL => sql`${box.table.status} <> ${waitingOf(box)}`;
const isDue = (box: Outbox): SQL => sql`${isWaiting(box)} AND ${dueOf(box)} <= statement_timestamp()`;

export const dueTimeOf = (box: Outbox): DueTime => ({
  column: dueOf(box),
  where: box.farAhead ? sql`${isWaiting(box)} AND NOT ${box.farAhead}` : isWaiting(box),
  longest: box.longest,
});

export async function hasDue(box: Outbox): Promise<boolean> {
  const rows = await database()
    .select({ one: sql`1` })
    .from(box.table)
    .where(isDue(box))
    .limit(1);
  return rows.length > 0;
}

/** Whom a message goes to. `through` joins the table with the receivers' hosts, if the outbox does not have them itself. */
export type Receivers = {
  readonly owner: PgColumn;
  readonly host: SQL<string>;
  readonly through?: { readonly table: PgTable; readonly on: SQL };
  /** Messages for which this is true come after the others. */
  readonly isLast: SQL;
};

/** Counts an attempt. If the worker dies, the rows are due again when the lease ends, so a row may be worked on twice. */
const lease = <T extends OutboxTable>(
  tx: Tx,
  box: Outbox<T>,
  ids: readonly string[],
  leaseMs: number,
  also: Partial<Record<keyof Row<T>, SQL>> = {},
): Promise<Row<T>[]> =>
  tx
    .update(box.table)
    .set({ attempts: sql`${box.table.attempts} + 1`, [box.due]: after(leaseMs), ...also })
    .where(sql`${box.id} = ANY(${sql.param(ids)}::text[])`)
    .returning();

type Wanted = { readonly rows: number; readonly leaseMs: number; readonly where: SQL };

/** The rows that have been due for longest. */
export async function leaseDue<T extends OutboxTable>(
  tx: Tx,
  box: Outbox<T>,
  { rows, leaseMs, where }: Wanted,
  also?: Partial<Record<keyof Row<T>, SQL>>,
): Promise<Row<T>[]> {
  const { table, id }: Outbox = box;
  const free = await tx
    .select({ id })
    .from(table)
    .where(and(isDue(box), where))
    .orderBy(asc(dueOf(box)))
    .limit(rows)
    .for("update", { skipLocked: true });
  const ids = free.map((row) => String(row.id));
  return ids.length === 0 ? [] : lease(tx, box, ids, leaseMs, also);
}

type Message = {
  readonly id: string;
  readonly owner: string;
  readonly host: string;
  readonly attempts: number;
  readonly leasedAt: Date;
  readonly usefulUntil: Date | null;
};
export type Leased<T extends PgTable> = Row<T> & Message;

/** The longest due message to an owner and a host that are not full. */
export const leaseMessage = <T extends OutboxTable>(
  box: Outbox<T>,
  { owner, host, through, isLast }: Receivers,
  { owners, hosts }: Full,
  leaseMs: number,
): Promise<Leased<T> | null> =>
  database().transaction(async (tx) => {
    const { table, id }: Outbox = box;
    const all = tx.select({ id, owner, host, leasedAt: sql`clock_timestamp()`.mapWith(dueOf(box)) }).from(table);
    const [free] = await (through ? all.innerJoin(through.table, through.on) : all)
      .where(and(isDue(box), notInArray(owner, [...owners]), notInArray(host, [...hosts])))
      .orderBy(isLast, asc(dueOf(box)))
      .limit(1)
      .for("update", { of: table, skipLocked: true });
    const [row] = free ? await lease(tx, box, [String(free.id)], leaseMs) : [];
    return row ? ({ ...row, ...free } as Leased<T>) : null;
  });

/** Rows that this transaction has locked are left out by all other workers. */
export function lockDue<T extends OutboxTable>(tx: Tx, box: Outbox<T>, rows: number, id?: string): Promise<Row<T>[]> {
  const { table }: Outbox = box;
  return tx
    .select()
    .from(table)
    .where(and(isDue(box), id === undefined ? undefined : named(box, id)))
    .orderBy(asc(dueOf(box)))
    .limit(rows)
    .for("update", { skipLocked: true });
}

export async function dueIds(box: Outbox, rows: number): Promise<readonly string[]> {
  const found = await database()
    .select({ id: box.id })
    .from(box.table)
    .where(isDue(box))
    .groupBy(box.id)
    .orderBy(asc(min(dueOf(box))))
    .limit(rows);
  return found.map(({ id }) => String(id));
}

async function change(db: Database | Tx, box: Outbox, which: SQL | undefined, values: Record<string, unknown>): Promise<number> {
  const changed = await db
    .update(box.table)
    .set(values as never)
    .where(and(which, isWaiting(box)))
    .returning({ one: sql`1` });
  return changed.length;
}

const now = sql`statement_timestamp()`;

/** Changes only rows that have not ended; returns their number. */
export const end = <T extends OutboxTable>(
  db: Database | Tx,
  box: Outbox<T>,
  which: SQL | undefined,
  status: Row<T>["status"] | "failed",
  also: Partial<Row<T>> = {},
): Promise<number> =>
  change(db, box, which, { status, ...(!dueOf(box).notNull && { [box.due]: null }), endedAt: now, ...box.ending, ...also });

/** Changes only rows that have not ended; returns their number. */
export const postpone = <T extends OutboxTable>(
  db: Database | Tx,
  box: Outbox<T>,
  which: SQL | undefined,
  until: SQL | Date,
  also: Partial<Row<T>> = {},
): Promise<number> => change(db, box, which, { [box.due]: until, ...also });

/** For due rows whose transaction has failed: counts the attempt, postpones them, and ends them after the last attempt. */
export async function countFailure(box: Outbox, id: string, attemptsMax: number): Promise<void> {
  const attempts = sql`${box.table.attempts} + 1`;
  const isLast = sql`${attempts} >= ${attemptsMax}`;
  await change(database(), box, and(named(box, id), isDue(box)), {
    attempts,
    [box.due]: sql`(SELECT ${now} + power(2, ${attempts}) * interval '1 second')`,
    status: sql`CASE WHEN ${isLast} THEN 'failed' ELSE ${waitingOf(box)} END`,
    endedAt: sql`(SELECT ${now} WHERE ${isLast})`,
  });
}
