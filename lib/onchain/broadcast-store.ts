import { lt, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { settlementDays } from "#lib/onchain/tables.ts";

/** False when the organization's settlements of this UTC day are used up. */
export async function countSettlement(tx: Tx, organizationId: string, cap: number): Promise<boolean> {
  if (cap < 1) return false;
  const rows = await tx
    .insert(settlementDays)
    .values({ organizationId, day: sql`to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`, settlements: 1 })
    .onConflictDoUpdate({
      target: [settlementDays.organizationId, settlementDays.day],
      set: { settlements: sql`${settlementDays.settlements} + 1` },
      setWhere: lt(settlementDays.settlements, cap),
    })
    .returning({ settlements: settlementDays.settlements });
  return rows.length === 1;
}
