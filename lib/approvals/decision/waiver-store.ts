import { and, count, eq, gt, isNull, sql } from "drizzle-orm";
import { waivers } from "#lib/approvals/tables.ts";
import type { WaiverUse } from "#lib/approvals/decision/waiver.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import type { Sql } from "#lib/db/sql.ts";

/* Waivers are created and used while their mandate is locked, so two payments cannot use the same waiver. */

export type WaiverRow = typeof waivers.$inferSelect;

export async function waiverOf(db: Database | Tx, authorizationId: string): Promise<WaiverRow | null> {
  const [row] = await db.select().from(waivers).where(eq(waivers.authorizationId, authorizationId));
  return row ?? null;
}

export async function waiverUsedBy(db: Database | Tx, authorizationId: string): Promise<WaiverRow | null> {
  const [row] = await db.select().from(waivers).where(eq(waivers.usedByAuthorizationId, authorizationId));
  return row ?? null;
}

/** How many waivers of the mandate a payment could still use. */
export async function openWaivers(tx: Tx, mandateId: string): Promise<number> {
  const isOpen = and(
    eq(waivers.mandateId, mandateId),
    isNull(waivers.usedByAuthorizationId),
    gt(waivers.expiresAt, sql`(SELECT clock_timestamp())`),
  );
  const [row] = await tx.select({ open: count() }).from(waivers).where(isOpen);
  return row!.open;
}

export async function insertWaiver(tx: Tx, waiver: Omit<WaiverRow, "usedByAuthorizationId">): Promise<WaiverRow> {
  const [row] = await tx.insert(waivers).values(waiver).returning();
  return row!;
}

export const useWaivers = (c: Sql, uses: readonly WaiverUse[]) => c`
  UPDATE waivers SET used_by_authorization_id = w.authorization_id
  FROM unnest(${uses.map(({ waiverId }) => waiverId)}::text[],
    ${uses.map(({ authorizationId }) => authorizationId)}::text[]) AS w(waiver_id, authorization_id)
  WHERE waivers.waiver_id = w.waiver_id AND used_by_authorization_id IS NULL`;
