import { and, eq, isNull, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { user } from "#lib/identity/tables.ts";

/** True for the one caller that finds the user not yet audited. */
export async function markAudited(tx: Tx, userId: string): Promise<boolean> {
  const marked = await tx
    .update(user)
    .set({ auditedAt: sql`clock_timestamp()` })
    .where(and(eq(user.id, userId), isNull(user.auditedAt)))
    .returning({ id: user.id });
  return marked.length === 1;
}
