import { count, eq, sql, type SQL } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { executions, holdSweeps } from "#lib/holds/tables.ts";
import { DAY_MS, minutes } from "#lib/time.ts";

type Queries = Pick<Tx, "execute">;

export const holdColumns = sql`authorization_id, organization_id, mandate_id, amount, approval_key, buckets, expires_at, created_at, captured, refunded`;
/** What ends with a hold that is held or submitted. */
export const openColumns = sql`released, amount - coalesce(captured + released, 0) AS open`;

/** 1970 without a sweep, or if the stored time is later than now: then the clock ran ahead, and holds may be left before it. */
export async function sweptUntil(db: Queries): Promise<Date> {
  const [row] = await db.execute<{ until: string }>(sql`
    SELECT ${holdSweeps.sweptUntil} AS until FROM ${holdSweeps} WHERE ${holdSweeps.sweptUntil} <= clock_timestamp()`);
  return new Date(row?.until ?? 0);
}

/**
 * `where` may use the columns that authorizations and changed_reservations share. Authorizations that expired before `since` are
 * not read, because their holds were released. OFFSET 0 makes PostgreSQL look up each hold by its key.
 */
export const heldRows = (since: Date, where: SQL) => sql`
  SELECT ${holdColumns}, ${openColumns} FROM changed_reservations WHERE status = 'held' AND resolved_at IS NULL AND ${where}
  UNION ALL SELECT authorization_id, organization_id, mandate_id, coalesce(unit_amount, amount + buyer_share), NULL, buckets::json, expires_at, created_at,
    NULL, NULL, NULL, coalesce(unit_amount, amount + buyer_share)
  FROM authorizations a WHERE held AND expires_at > ${since.toISOString()}::timestamptz AND ${where}
    AND NOT EXISTS (SELECT FROM changed_reservations WHERE authorization_id = a.authorization_id OFFSET 0)`;

/** The holds of payments that are made elsewhere or by card, which no clock ends. The conditions are those of partial indexes. */
const keptRows = sql`
  SELECT r.mandate_id, r.open FROM recorded_payments p, LATERAL (
    SELECT mandate_id, status, ${openColumns} FROM changed_reservations WHERE authorization_id = p.authorization_id OFFSET 0) AS r
  WHERE (p.status = 'open' AND p.asks IS NULL OR p.asks IS NOT NULL) AND r.status = 'submitted'
  UNION ALL SELECT r.mandate_id, r.open FROM card_parts p, LATERAL (
    SELECT mandate_id, status, ${openColumns} FROM changed_reservations WHERE authorization_id = p.authorization_id OFFSET 0) AS r
  WHERE p.open > 0 AND r.status = 'submitted'`;

/** A sweep releases the holds that expired in this time; with `until` null, all that have expired by now. */
export type Span = { readonly since: Date; readonly until: Date | null };

export const expiredIn = ({ until }: Span): SQL =>
  until === null ? sql`expires_at <= (SELECT clock_timestamp())` : sql`expires_at <= ${until.toISOString()}::timestamptz`;

/** Sorted, after `place`. Nothing is locked, so the caller must lock each mandate and read its holds again. */
export async function mandatesWithDueHolds(db: Queries, span: Span, place: string, limit: number): Promise<readonly string[]> {
  const isDue = sql`${expiredIn(span)} AND mandate_id > ${place}`;
  const rows = await db.execute<{ mandate_id: string }>(sql`
    SELECT mandate_id FROM (${heldRows(span.since, isDue)}) AS due
    UNION SELECT mandate_id FROM mandates m WHERE status = 'revoked' AND reserved > 0 AND mandate_id > ${place}
      AND reserved > (SELECT coalesce(sum(open), 0) FROM (${keptRows}) AS kept WHERE mandate_id = m.mandate_id)
    ORDER BY mandate_id LIMIT ${limit}`);
  return rows.map((row) => row.mandate_id);
}

/** Long enough that a usual sweep is one span; after the loss of the stored time, the statements of each span stay short. */
const SPAN_MS = minutes(60);

export type SweepPlan = { readonly stored: Stored; readonly spans: Iterable<Span>; readonly covered: Date };
/** The stored time up to which all expired holds are released. It is ahead of now if it was stored while the clock ran ahead. */
export type Stored = { readonly until: Date | null; readonly isAhead: boolean };

function* spansOf(since: Date, covered: Date): Iterable<Span> {
  let from = since;
  for (; covered.getTime() - from.getTime() > SPAN_MS; from = new Date(from.getTime() + SPAN_MS))
    yield { since: from, until: new Date(from.getTime() + SPAN_MS) };
  yield { since: from, until: null };
}

/**
 * The stored time says what the sweeps have done only while the clock goes forward. `agoMs`, since the last sweep of this process
 * by its own clock, begins before each hold that was made after the database's clock was set back. If the stored time is later
 * than now, nothing before it is known to be swept, so everything since the first authorization is.
 * `covered` is before the start of every open transaction, so that the holds of these, which nobody can see yet, expire later.
 */
export async function planSweep(db: Queries, agoMs: number): Promise<SweepPlan> {
  const [row] = await db.execute<{ stored: string | null; ahead: boolean | null; since: string; covered: string }>(sql`
    SELECT stored, stored > now AS ahead, covered, least(covered, greatest(
      CASE WHEN stored <= now THEN least(stored, now - ${agoMs}::float8 * interval '1 millisecond') END,
      (SELECT created_at FROM authorizations ORDER BY authorization_id LIMIT 1) - ${DAY_MS}::float8 * interval '1 millisecond')) AS since
    FROM (SELECT clock_timestamp() AS now, (SELECT swept_until FROM hold_sweeps) AS stored,
      (SELECT least(clock_timestamp(), min(xact_start)) - interval '10 seconds' FROM pg_stat_activity
        WHERE datname = current_database()) AS covered) AS facts`);
  const covered = new Date(row!.covered);
  const stored = { until: row!.stored ? new Date(row!.stored) : null, isAhead: row!.ahead === true };
  return { stored, spans: spansOf(new Date(row!.since), covered), covered };
}

/** Stores a time up to which all expired holds are released, at most once a minute. `stored` is what was found before. */
export async function noteSwept(db: Database, until: Date, stored: Stored): Promise<Stored> {
  if (stored.until && !stored.isAhead && stored.until.getTime() >= until.getTime() - minutes(1)) return stored;
  const [row] = await db
    .insert(holdSweeps)
    .values({ name: "holds", sweptUntil: until })
    .onConflictDoUpdate({
      target: holdSweeps.name,
      set: { sweptUntil: until },
      // Another process may have stored the time of a sweep that this one knows nothing about.
      setWhere: eq(holdSweeps.sweptUntil, stored.until ?? new Date(0)),
    })
    .returning({ until: holdSweeps.sweptUntil });
  return row ? { until: row.until, isAhead: false } : stored;
}

/**
 * Holds that expired more than a minute ago and that the background job should have released. Does not use the time of the
 * sweeps, which may be wrong: a mandate whose reserved amount is more than its other holds has overdue ones.
 */
export function selectOverdueHolds(db: Database) {
  const late = sql`(SELECT clock_timestamp() - interval '1 minute')`;
  const always = new Date(0);
  const overdue = sql`(
    WITH others AS (
      SELECT mandate_id, sum(open) AS open FROM (
        SELECT mandate_id, open FROM (${heldRows(always, sql`expires_at >= ${late}`)}) AS held
        UNION ALL SELECT r.mandate_id, r.open FROM ${executions}, LATERAL (
          SELECT mandate_id, status, ${openColumns} FROM changed_reservations
          WHERE authorization_id = ${executions.authorizationId} OFFSET 0) AS r
        WHERE ${executions.nextCheckAt} IS NOT NULL AND r.status = 'submitted'
        UNION ALL ${keptRows}) AS one
      GROUP BY mandate_id),
    suspect AS (
      SELECT m.mandate_id FROM mandates m LEFT JOIN others USING (mandate_id)
      WHERE m.reserved > 0 AND m.reserved > coalesce(others.open, 0))
    SELECT FROM suspect, LATERAL (
      SELECT FROM (${heldRows(always, sql`mandate_id = suspect.mandate_id AND expires_at < ${late}`)}) AS held) AS found) AS overdue`;
  return db.select({ count: count() }).from(overdue);
}

export async function countOverdueHolds(db: Database): Promise<number> {
  const [row] = await selectOverdueHolds(db);
  return row?.count ?? 0;
}
