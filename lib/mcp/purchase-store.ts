import { and, eq, lt, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { after, leaseEnded } from "#lib/db/leases.ts";
import { mcpPurchases } from "#lib/mcp/tables.ts";
import { minutes } from "#lib/time.ts";

export type PurchaseRow = typeof mcpPurchases.$inferSelect;
type Name = Pick<PurchaseRow, "slot" | "purchaseKey">;

const is = ({ slot, purchaseKey }: Name) => and(eq(mcpPurchases.slot, slot), eq(mcpPurchases.purchaseKey, purchaseKey));

/** Longer than MCP_DEADLINE_MS. If the process of a call dies, a repeated call continues after this time. */
const LEASE_MS = minutes(2);

/** The condition that no call has the lease of the purchase now. */
const isFree = leaseEnded(mcpPurchases.busyUntil, LEASE_MS);

type NewPurchase = Name & { readonly organizationId: string; readonly liveSeconds: number };

/** Begins a purchase if the slot has none that is live or leased. One statement decides, so simultaneous calls begin only one. */
export async function beginPurchase(purchase: NewPurchase): Promise<{ readonly row: PurchaseRow; readonly isNew: boolean }> {
  const { slot, purchaseKey, organizationId, liveSeconds } = purchase;
  const begins = sql`excluded.created_at`;
  const [begun] = await database()
    .insert(mcpPurchases)
    .values({ slot, organizationId, purchaseKey, liveUntil: after(liveSeconds * 1_000) })
    .onConflictDoUpdate({
      target: mcpPurchases.slot,
      set: {
        purchaseKey,
        liveUntil: sql`excluded.live_until`,
        authorizationId: null,
        result: null,
        round: 0,
        busyUntil: null,
        createdAt: begins,
      },
      setWhere: sql`${lt(mcpPurchases.liveUntil, begins)} AND ${leaseEnded(mcpPurchases.busyUntil, LEASE_MS, { at: begins, ms: 0 })}`,
    })
    .returning();
  if (begun) return { row: begun, isNew: true };
  const row = await findPurchase(slot);
  // The row may have been deleted between the two statements, so try again.
  return row ? { row, isNew: false } : beginPurchase(purchase);
}

export async function findPurchase(slot: string): Promise<PurchaseRow | null> {
  const [row] = await database().select().from(mcpPurchases).where(eq(mcpPurchases.slot, slot));
  return row ?? null;
}

/** False if another call has the lease, or if the purchase was replaced or deleted. */
export async function leasePurchase(name: Name): Promise<boolean> {
  const leased = await database()
    .update(mcpPurchases)
    .set({ busyUntil: after(LEASE_MS) })
    .where(and(is(name), isFree))
    .returning({ slot: mcpPurchases.slot });
  return leased.length === 1;
}

type Change = Partial<Pick<PurchaseRow, "authorizationId" | "result">>;

export async function savePurchase(name: Name, change: Change): Promise<void> {
  await database().update(mcpPurchases).set(change).where(is(name));
}

export async function endPurchaseLease(name: Name): Promise<void> {
  await database().update(mcpPurchases).set({ busyUntil: null }).where(is(name));
}

/** Makes a purchase stay the current one for its arguments at least until this time. */
export async function keepPurchase(name: Name, until: Date): Promise<void> {
  await database()
    .update(mcpPurchases)
    .set({ liveUntil: sql`greatest(${mcpPurchases.liveUntil}, ${until.toISOString()}::timestamptz)` })
    .where(is(name));
}

/**
 * False if `round` is not the current one, because it was used, or if the purchase was replaced or deleted. With a purchaseId,
 * a replaced purchase has the same key, and only its creation time differs.
 */
export async function useRound(of: Name & Pick<PurchaseRow, "createdAt" | "round">): Promise<boolean> {
  const { createdAt, round } = of;
  const used = await database()
    .update(mcpPurchases)
    .set({ round: round + 1 })
    .where(and(is(of), eq(mcpPurchases.createdAt, createdAt), eq(mcpPurchases.round, round)))
    .returning({ slot: mcpPurchases.slot });
  return used.length === 1;
}

export const forgetOldPurchases = (): Promise<number> => deleteOld(mcpPurchases.liveUntil, 0, isFree);
