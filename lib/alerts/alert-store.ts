import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import type { FoundAlert } from "#lib/alerts/facts.ts";
import { alerts, refusalCounts } from "#lib/alerts/tables.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import { currentVersion, liveBuckets, mandateColumns } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";

export type AlertRow = typeof alerts.$inferSelect;

/** If an alert with the same subject, window and threshold is stored already, its row does not change. */
export async function insertAlerts(tx: Tx, found: readonly FoundAlert[]): Promise<void> {
  if (found.length === 0) return;
  await tx
    .insert(alerts)
    .values(found.map((one) => ({ alertId: newId("alert"), ...one })))
    .onConflictDoNothing();
}

export async function selectBudgets(tx: Tx, mandateIds: readonly string[], now: Date) {
  if (mandateIds.length === 0) return [];
  const rows = await tx
    .select(mandateColumns)
    .from(mandates)
    .innerJoin(mandateVersions, currentVersion)
    .where(inArray(mandates.mandateId, [...mandateIds]));
  const buckets = await liveBuckets(tx, mandateIds, now);
  return rows.map((row) => ({ row, buckets: buckets.filter(({ mandateId }) => mandateId === row.mandateId) }));
}

/** Adds `count` to the number of payments that the mandate refused with this code in this hour, and returns the sum. */
export async function countRefusals(tx: Tx, mandateId: string, code: string, hour: Date, count: number): Promise<number> {
  const [row] = await tx
    .insert(refusalCounts)
    .values({ mandateId, code, hour, count })
    .onConflictDoUpdate({
      target: [refusalCounts.mandateId, refusalCounts.code, refusalCounts.hour],
      set: { count: sql`${refusalCounts.count} + ${count}` },
    })
    .returning({ count: refusalCounts.count });
  return row?.count ?? 0;
}

export const selectExecutions = (tx: Tx, executionIds: readonly string[]) =>
  executionIds.length === 0
    ? Promise.resolve([])
    : tx
        .select()
        .from(executions)
        .where(inArray(executions.executionId, [...executionIds]));

const isDue = () => and(eq(alerts.status, "waiting"), lte(alerts.dueAt, sql`(SELECT clock_timestamp())`));

export async function nextDueAlert(): Promise<string | null> {
  const [row] = await database()
    .select({ alertId: alerts.alertId })
    .from(alerts)
    .where(isDue())
    .orderBy(asc(alerts.dueAt))
    .limit(1);
  return row?.alertId ?? null;
}

/** Returns null if another transaction has locked the alert, or if the alert is no longer due. */
export async function lockAlert(tx: Tx, alertId: string): Promise<AlertRow | null> {
  const [row] = await tx
    .select()
    .from(alerts)
    .where(and(eq(alerts.alertId, alertId), isDue()))
    .for("update", { skipLocked: true });
  return row ?? null;
}

export async function endAlert(tx: Tx, alertId: string, status: "delivered" | "dropped"): Promise<void> {
  await tx.update(alerts).set({ status }).where(eq(alerts.alertId, alertId));
}

const ATTEMPTS_MAX = 5;

export async function postponeAlert(alertId: string): Promise<void> {
  await database()
    .update(alerts)
    .set({
      attempts: sql`${alerts.attempts} + 1`,
      dueAt: sql`clock_timestamp() + power(2, ${alerts.attempts} + 1) * interval '1 second'`,
      status: sql`CASE WHEN ${alerts.attempts} + 1 >= ${ATTEMPTS_MAX} THEN 'failed' ELSE 'waiting' END`,
    })
    .where(and(eq(alerts.alertId, alertId), eq(alerts.status, "waiting")));
}

/** Keeps alerts about a limit on the total, because that limit never starts again. Other limits span less than 400 days. */
export async function deleteOldAlerts(rows: number): Promise<number> {
  const old = await database().execute(sql`
    DELETE FROM alerts WHERE alert_id IN (
      SELECT alert_id FROM alerts WHERE created_at < (SELECT clock_timestamp() - interval '400 days') AND status <> 'waiting'
        AND "window" <> 'total' LIMIT ${rows})
    RETURNING 1`);
  const counts = await database().execute(sql`
    DELETE FROM refusal_counts WHERE (mandate_id, code, hour) IN (
      SELECT mandate_id, code, hour FROM refusal_counts WHERE hour < (SELECT clock_timestamp() - interval '1 day') LIMIT ${rows})
    RETURNING 1`);
  return old.length + counts.length;
}
