import { inArray } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { mandateThresholds } from "#lib/alerts/tables.ts";

/** Mandates for which nobody chose thresholds are left out. */
export async function thresholdsOf(tx: Tx, mandateIds: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await tx
    .select()
    .from(mandateThresholds)
    .where(inArray(mandateThresholds.mandateId, [...mandateIds]));
  return new Map(rows.map(({ mandateId, thresholds }) => [mandateId, thresholds]));
}

/** The caller must hold the lock on the mandate's row, so that two changes run one after the other. */
export async function saveThresholds(tx: Tx, mandateId: string, thresholds: readonly number[]): Promise<void> {
  const set = { thresholds: [...thresholds] };
  await tx
    .insert(mandateThresholds)
    .values({ mandateId, ...set })
    .onConflictDoUpdate({ target: mandateThresholds.mandateId, set });
}
