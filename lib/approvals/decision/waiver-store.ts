import { eq } from "drizzle-orm";
import { waivers } from "#lib/approvals/tables.ts";
import type { WaiverTerms, WaiverUse } from "#lib/approvals/decision/waiver.ts";
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

export async function insertWaiver(tx: Tx, waiver: Omit<WaiverRow, "usedByAuthorizationId">): Promise<WaiverRow> {
  const [row] = await tx.insert(waivers).values(waiver).returning();
  return row!;
}

/** The ids of unused and unexpired waivers, oldest first, by the index of the payment in `asked`. */
export async function waiversFor(c: Sql, asked: readonly WaiverTerms[]): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await c`
    SELECT w.number, v.waiver_id FROM unnest(${asked.map((_, number) => number)}::int[],
        ${asked.map(({ mandateId }) => mandateId)}::text[], ${asked.map(({ policyVersion }) => policyVersion)}::int[],
        ${asked.map(({ subjectId }) => subjectId)}::text[], ${asked.map(({ basketHash }) => basketHash)}::text[],
        ${asked.map(({ charged }) => charged.toString())}::text[], ${asked.map(({ payTo }) => payTo)}::text[])
      AS w(number, mandate_id, policy_version, subject_id, basket_hash, charged, pay_to),
      LATERAL (SELECT waiver_id FROM waivers WHERE mandate_id = w.mandate_id AND basket_hash = w.basket_hash
        AND used_by_authorization_id IS NULL AND policy_version = w.policy_version AND subject_id = w.subject_id
        AND charged = w.charged::numeric AND pay_to = w.pay_to AND expires_at > clock_timestamp() OFFSET 0) v
    ORDER BY w.number, v.waiver_id`;
  const found = Map.groupBy(rows, (row) => row["number"] as number);
  return new Map([...found].map(([number, list]) => [number, list.map((row) => row["waiver_id"] as string)]));
}

export const useWaivers = (c: Sql, uses: readonly WaiverUse[]) => c`
  UPDATE waivers SET used_by_authorization_id = w.authorization_id
  FROM unnest(${uses.map(({ waiverId }) => waiverId)}::text[],
    ${uses.map(({ authorizationId }) => authorizationId)}::text[]) AS w(waiver_id, authorization_id)
  WHERE waivers.waiver_id = w.waiver_id AND used_by_authorization_id IS NULL`;
