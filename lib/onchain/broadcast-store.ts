import { sql, type SQL } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";

/** The maximum number of transactions that are counted on one UTC day, for an organization or for all together. */
type Cap = { readonly organizationId: string; readonly cap: number };

const count = ({ organizationId, cap }: Cap, only: SQL): SQL => sql`
  INSERT INTO settlement_days AS d (organization_id, day, settlements)
  SELECT ${organizationId}, to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), 1 WHERE ${cap} >= 1 AND ${only}
  ON CONFLICT (organization_id, day) DO UPDATE SET settlements = d.settlements + 1 WHERE d.settlements < ${cap}
  RETURNING d.organization_id`;

/** Counts one transaction, or returns the limit that is reached. If only `total` is reached, `own` is counted all the same. */
export async function countSettlement(tx: Tx, own: Cap, total: Cap): Promise<"own" | "total" | null> {
  const [found] = await tx.execute<{ own: boolean; total: boolean }>(sql`
    WITH own AS (${count(own, sql`true`)}), total AS (${count(total, sql`EXISTS (SELECT FROM own)`)})
    SELECT EXISTS (SELECT FROM own) AS own, EXISTS (SELECT FROM total) AS total`);
  if (!found?.own) return "own";
  return found.total ? null : "total";
}
