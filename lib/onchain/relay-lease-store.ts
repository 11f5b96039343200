import { randomUUID } from "node:crypto";
import { and, eq, gt, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { after, leaseEnded } from "#lib/db/leases.ts";
import { relayLeases, type LeaseKey } from "#lib/onchain/tables.ts";
import { minutes } from "#lib/time.ts";

/** The right to send relayed transactions of one key on one chain, or to follow the chain's settlements. */
export type Lease = { readonly chain: string; readonly key: LeaseKey; readonly holder: string; readonly fence: number };

/** Milliseconds that a lease is valid. If its holder dies or loses the database, other processes wait until it has expired. */
const LEASE_MS = 6_000;
const EXTEND_EVERY_MS = LEASE_MS / 3;
/** Milliseconds after which underLease no longer extends a lease by itself, so that work that hangs does not block others. */
const EXTENDED_MS = minutes(5);

const until = after(LEASE_MS);

const isOurs = ({ chain, key, holder, fence }: Lease) =>
  and(
    eq(relayLeases.chain, chain),
    eq(relayLeases.key, key),
    eq(relayLeases.holder, holder),
    eq(relayLeases.fence, fence),
    gt(relayLeases.expiresAt, sql`statement_timestamp()`),
  );

/** Null while another process, or another task of this process, has the lease. */
async function takeLease(chain: string, key: LeaseKey): Promise<Lease | null> {
  const holder = randomUUID();
  const [row] = await database()
    .insert(relayLeases)
    .values({ chain, key, holder, fence: 1, expiresAt: until })
    .onConflictDoUpdate({
      target: [relayLeases.chain, relayLeases.key],
      set: { holder, fence: sql`${relayLeases.fence} + 1`, expiresAt: sql`excluded.expires_at` },
      setWhere: leaseEnded(relayLeases.expiresAt, LEASE_MS, { at: sql`excluded.expires_at`, ms: LEASE_MS }),
    })
    .returning({ fence: relayLeases.fence });
  return row ? { chain, key, holder, fence: row.fence } : null;
}

/** Returns false if another holder may have the lease; then the caller must stop all work. */
export async function extendLease(lease: Lease): Promise<boolean> {
  const rows = await database()
    .update(relayLeases)
    .set({ expiresAt: until })
    .where(isOurs(lease))
    .returning({ fence: relayLeases.fence });
  return rows.length === 1;
}

/** Whether this holder still has the lease; if so, no other holder can take it until this database transaction ends. */
export async function holdsLease(tx: Tx, lease: Lease): Promise<boolean> {
  const rows = await tx.select({ fence: relayLeases.fence }).from(relayLeases).where(isOurs(lease)).for("update");
  return rows.length === 1;
}

async function releaseLease(lease: Lease): Promise<void> {
  await database()
    .update(relayLeases)
    .set({ expiresAt: sql`statement_timestamp()` })
    .where(isOurs(lease));
}

/** Extends the lease while the work runs, at most `extendedMs`. Null if another holder has the lease: the work did not run. */
export async function underLease<T>(
  chain: string,
  key: LeaseKey,
  work: (lease: Lease) => Promise<T>,
  extendedMs = EXTENDED_MS,
): Promise<T | null> {
  const lease = await takeLease(chain, key);
  if (!lease) return null;
  // The error can be ignored: if the lease expires, `extendLease` and `holdsLease` return false to the work.
  const until = performance.now() + extendedMs;
  const extending = setInterval(() => {
    if (performance.now() < until) void extendLease(lease).catch(() => {});
  }, EXTEND_EVERY_MS);
  try {
    return await work(lease);
  } finally {
    clearInterval(extending);
    await releaseLease(lease);
  }
}
