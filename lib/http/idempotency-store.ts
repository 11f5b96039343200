import { eq, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { idempotency } from "#lib/http/tables.ts";

type Stored = { readonly slot: string; readonly fingerprint: string; readonly status: number; readonly body: string };

export async function findReply(slot: string): Promise<Stored | null> {
  const [row] = await database().select().from(idempotency).where(eq(idempotency.slot, slot));
  return row ?? null;
}

/** False when a twin committed first. Waits at most a second for one that is still open. */
export async function claimSlot(tx: Tx, { slot, fingerprint, status, body }: Stored): Promise<boolean> {
  await tx.execute(sql`SET LOCAL lock_timeout = '1s'`);
  const claimed = await tx
    .insert(idempotency)
    .values({ slot, fingerprint, status, body })
    .onConflictDoNothing()
    .returning({ slot: idempotency.slot });
  return claimed.length === 1;
}
