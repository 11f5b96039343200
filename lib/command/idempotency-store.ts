import { eq, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { idempotency } from "#lib/command/tables.ts";

type SlotReply = { readonly slot: string; readonly fingerprint: string; readonly status: number; readonly body: string };

export async function findReply(slot: string, on: Database = database()): Promise<SlotReply | null> {
  const [row] = await on.select().from(idempotency).where(eq(idempotency.slot, slot));
  return row ?? null;
}

/** False if a request with the same key committed first; this and later statements of `tx` wait at most 1 s for a lock. */
export async function claimSlot(tx: Tx, { slot, fingerprint, status, body }: SlotReply): Promise<boolean> {
  const claimed = await tx.execute(sql`
    WITH limited AS MATERIALIZED (SELECT set_config('lock_timeout', '1s', true))
    INSERT INTO idempotency (slot, fingerprint, status, body) SELECT ${slot}, ${fingerprint}, ${status}::int, ${body} FROM limited
    ON CONFLICT DO NOTHING RETURNING slot`);
  return claimed.length === 1;
}

/** After 30 days, a repeated request finds no reply here. */
export const forgetOldReplies = (): Promise<number> => deleteOld(idempotency.createdAt, 30);
