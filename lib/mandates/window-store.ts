import { and, eq, gt, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import type { BucketUsage } from "#lib/mandates/policy/facts.ts";
import { usageBuckets } from "#lib/mandates/tables.ts";
import { bucketAt, windowAt, type Window } from "#lib/mandates/policy/windows.ts";
import { atomicOf, type Atomic } from "#lib/money.ts";

/** What a hold has spent and what is open of it, where `a` is its authorization and `r` its row in changed_reservations, if it has one. */
export const spentOfHold = sql`coalesce(r.captured, CASE WHEN r.status = 'captured' THEN r.amount ELSE 0 END)`;
export const openOfHold = sql`(CASE WHEN coalesce(r.status, 'held') IN ('held', 'submitted')
  THEN coalesce(r.amount, a.unit_amount, a.amount + a.buyer_share) - coalesce(r.captured + r.released, 0) ELSE 0 END)`;

/** A payment that was denied and paid nevertheless has a hold too. */
const isCounted = sql`(a.held OR r.captured > 0)`;

/** The holds made within a window until `at`, with their current status and the start of their bucket. */
function holdsIn(mandateId: string, window: Window, at: Date) {
  const { start: from } = windowAt(window, at);
  const { start, end } = bucketAt(window, at);
  const width = sql`${(end.getTime() - start.getTime()) / 1_000}::numeric`;
  const bucketStart =
    window.kind === "calendar"
      ? sql`${start.toISOString()}::timestamptz`
      : sql`to_timestamp((floor(extract(epoch FROM a.created_at) / ${width}) * ${width})::float8)`;
  return sql`
    SELECT a.authorization_id, coalesce(r.status, 'held') AS status, coalesce(r.amount, a.unit_amount, a.amount + a.buyer_share) AS amount,
      ${spentOfHold} AS spent, ${openOfHold} AS open, ${bucketStart} AS start
    FROM authorizations a LEFT JOIN changed_reservations r ON r.authorization_id = a.authorization_id
    WHERE a.mandate_id = ${mandateId} AND ${isCounted}
      AND a.created_at >= ${from.toISOString()}::timestamptz AND a.created_at <= ${at.toISOString()}::timestamptz`;
}

const sumsOf = (mandateId: string, window: Window, at: Date) => sql`
  SELECT start, sum(spent) AS spent, sum(open) AS reserved, count(*) FILTER (WHERE status IN ('held', 'submitted', 'captured')) AS payments
  FROM (${holdsIn(mandateId, window, at)}) AS held GROUP BY start`;

const lifeOf = (window: Window, at: Date): number => {
  const { start, liveUntil } = bucketAt(window, at);
  return liveUntil.getTime() - start.getTime();
};

export async function bucketsFromAuthorizations(tx: Tx, mandateId: string, window: Window, at: Date): Promise<BucketUsage[]> {
  const rows = await tx.execute<{ start: string; spent: string; reserved: string; payments: string }>(
    sumsOf(mandateId, window, at),
  );
  return rows.map(({ start, spent, reserved, payments }) => {
    const begun = new Date(start);
    const liveUntil = new Date(begun.getTime() + lifeOf(window, at));
    return { start: begun, liveUntil, spent: atomicOf(spent), reserved: atomicOf(reserved), payments: Number(payments) };
  });
}

/**
 * Fills a window that the previous version did not have, so that it counts earlier payments, and adds it to the holds that may change.
 * Call lockMandate before, so that no hold ends during this transaction.
 */
export async function fillWindow(tx: Tx, mandateId: string, window: Window, now: Date): Promise<void> {
  const life = sql`make_interval(secs => ${lifeOf(window, now) / 1_000}::float8)`;
  const limit = window.limit === undefined ? sql`NULL::numeric` : sql`${String(window.limit)}::numeric`;
  await tx
    .delete(usageBuckets)
    .where(and(eq(usageBuckets.mandateId, mandateId), eq(usageBuckets.windowKey, window.key), gt(usageBuckets.liveUntil, now)));
  await tx.execute(sql`
    INSERT INTO usage_buckets (mandate_id, window_key, start, live_until, spent, reserved, payments, ceiling)
    SELECT ${mandateId}, ${window.key}, start, start + ${life}, spent, reserved, payments,
      CASE WHEN ${limit} IS NULL THEN NULL ELSE greatest(${limit}, spent + reserved) END
    FROM (${sumsOf(mandateId, window, now)}) AS sums`);
  await tx.execute(sql`
    INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at,
      created_at)
    SELECT a.authorization_id, a.organization_id, a.mandate_id, held.status, held.amount, r.approval_key,
      (b.buckets || jsonb_build_array(jsonb_build_array(${window.key}::text, (extract(epoch FROM held.start) * 1000)::bigint)))::json,
      a.expires_at, a.created_at
    FROM (${holdsIn(mandateId, window, now)}) AS held
      JOIN authorizations a ON a.authorization_id = held.authorization_id
      LEFT JOIN changed_reservations r ON r.authorization_id = held.authorization_id,
      LATERAL (SELECT coalesce(r.buckets::jsonb, a.buckets::jsonb) AS buckets) AS b
    WHERE (held.status <> 'captured' OR r.captured IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(b.buckets) AS bucket WHERE bucket->>0 = ${window.key})
    ON CONFLICT (authorization_id, mandate_id) DO UPDATE SET buckets = excluded.buckets`);
}

/**
 * Earlier usage may exceed a new limit: the policy enforces the limit, and the ceiling only guards the row.
 * Call lockMandate before, so that the usage does not change during this transaction.
 */
export async function setCeilings(tx: Tx, mandateId: string, windows: readonly Window[], now: Date): Promise<void> {
  for (const { key, limit } of windows) {
    const used = sql`${usageBuckets.spent} + ${usageBuckets.reserved}`;
    const ceiling = limit === undefined ? null : sql`greatest(${String(limit)}::numeric, ${used})`;
    await tx
      .update(usageBuckets)
      .set({ ceiling })
      .where(and(eq(usageBuckets.mandateId, mandateId), eq(usageBuckets.windowKey, key), gt(usageBuckets.liveUntil, now)));
  }
}

/** Nothing is lost, because new windows are filled from the stored authorizations. */
export const forgetOldBuckets = (): Promise<number> => deleteOld(usageBuckets.liveUntil, 1, sql`${usageBuckets.reserved} = 0`);

type Lifetime = { readonly used: Atomic; readonly lastHeldAt: Date | null };

/** `used` is what was spent or is reserved. */
export async function lifetimeFromAuthorizations(tx: Tx, mandateId: string, at: Date): Promise<Lifetime> {
  const [row] = await tx.execute<{ used: string; last: string | null }>(sql`
    SELECT coalesce(sum(${spentOfHold} + ${openOfHold}), 0)::text AS used, max(a.created_at) AS last
    FROM authorizations a LEFT JOIN changed_reservations r ON r.authorization_id = a.authorization_id
    WHERE a.mandate_id = ${mandateId} AND ${isCounted} AND a.created_at <= ${at.toISOString()}::timestamptz`);
  return { used: atomicOf(row?.used ?? "0"), lastHeldAt: row?.last ? new Date(row.last) : null };
}
