import { and, isNull, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { installation } from "#lib/installation/tables.ts";

const FIRST_ADMIN = 0x61646d69;

/** Takes an advisory lock until commit, so that only one person can become the first platform admin. */
export async function lockFirstAdmin(tx: Tx): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${FIRST_ADMIN}::bigint)`);
}

type Installation = { readonly claimed: boolean; readonly setupCodeHash: string | null };

export async function readInstallation(tx: Tx | ReturnType<typeof database> = database()): Promise<Installation | null> {
  const [row] = await tx
    .select({ claimed: sql<boolean>`${installation.claimedAt} IS NOT NULL`, setupCodeHash: installation.setupCodeHash })
    .from(installation);
  return row ?? null;
}

export async function markClaimed(tx: Tx): Promise<void> {
  await tx.update(installation).set({ claimedAt: sql`statement_timestamp()`, setupCodeHash: null });
}

/** Returns false if the platform has its first admin or, unless it may be replaced, if there is a set-up code already. */
export async function keepSetupCode(setupCodeHash: string, mayReplace: boolean): Promise<boolean> {
  const kept = await database()
    .update(installation)
    .set({ setupCodeHash })
    .where(and(isNull(installation.claimedAt), mayReplace ? undefined : isNull(installation.setupCodeHash)))
    .returning({ only: installation.only });
  return kept.length === 1;
}
