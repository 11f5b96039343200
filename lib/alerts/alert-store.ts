import { inArray, sql } from "drizzle-orm";
import type { FoundAlert } from "#lib/alerts/facts.ts";
import { alerts, refusalCounts } from "#lib/alerts/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import { currentVersion, liveBuckets, mandateColumns } from "#lib/mandates/store.ts";
import { mandates, mandateVersions } from "#lib/mandates/tables.ts";
import { end, hasEnded, named, type Outbox } from "#lib/outbox/store.ts";
import { minutes } from "#lib/time.ts";

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

export const alertBox: Outbox<typeof alerts> = {
  table: alerts,
  id: alerts.alertId,
  due: "dueAt",
  waiting: "waiting",
  longest: minutes(10),
};

export async function endAlert(tx: Tx, alertId: string, status: "delivered" | "dropped"): Promise<void> {
  await end(tx, alertBox, named(alertBox, alertId), status);
}

/** Keeps alerts about a limit on the total, because that limit never starts again. Other limits span less than 400 days. */
export const forgetOldAlerts = async (): Promise<number> =>
  (await deleteOld(alerts.createdAt, 400, sql`${hasEnded(alertBox)} AND ${alerts.window} <> 'total'`)) +
  (await deleteOld(refusalCounts.hour, 1));
