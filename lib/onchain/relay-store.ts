import type { Hex } from "viem";
import { and, asc, count, eq, gte, inArray, lte, min, sql, type SQL } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { after, isRecent } from "#lib/db/leases.ts";
import { freeNonces, nodeBehindMs } from "#lib/chains/free-nonces.ts";
import type { Fees } from "#lib/onchain/relay-fees.ts";
import { relayedTransactions as relays, type RelayKey, type RelayPurpose } from "#lib/onchain/tables.ts";

type Db = Database | Tx;
export type RelayRow = typeof relays.$inferSelect;
export type NewRelay = typeof relays.$inferInsert;
type SignedFields = Fees & {
  readonly signer: Hex;
  readonly nonce: number;
  readonly gasLimit: bigint;
  readonly rawTransaction: Hex;
  readonly hash: Hex;
  readonly sentAt: Date;
};
export type SentRelay = Omit<RelayRow, keyof SignedFields> & SignedFields;
export type SignedRelay = Omit<SignedFields, "sentAt"> & { readonly fence: number };

const open = inArray(relays.status, ["queued", "sent"]);
const now = sql`statement_timestamp()`;
const due = lte(relays.nextCheckAt, now);

/** The partial index relayed_transactions_open is for this query. */
export async function countOpenRelays(tx: Tx, organizationId: string, key: RelayKey): Promise<number> {
  const [row] = await tx
    .select({ count: count() })
    .from(relays)
    .where(and(eq(relays.organizationId, organizationId), eq(relays.key, key), open));
  return row?.count ?? 0;
}

/** If a transaction for the same purpose and entity is already stored, its row stays unchanged. */
export async function insertRelays(tx: Tx, rows: readonly NewRelay[]): Promise<void> {
  if (rows.length > 0) {
    await tx
      .insert(relays)
      .values([...rows])
      .onConflictDoNothing({ target: [relays.purpose, relays.entityId] });
  }
}

export async function findRelayFor(db: Db, purpose: RelayPurpose, entityId: string): Promise<RelayRow | null> {
  const [row] = await db
    .select()
    .from(relays)
    .where(and(eq(relays.purpose, purpose), eq(relays.entityId, entityId)));
  return row ?? null;
}

export async function findRelay(db: Db, relayId: string): Promise<RelayRow | null> {
  const [row] = await db.select().from(relays).where(eq(relays.relayId, relayId));
  return row ?? null;
}

export const dueSenders = () =>
  database().selectDistinct({ chain: relays.chain, key: relays.key }).from(relays).where(and(open, due));

const ofSender = (chain: string, key: RelayKey, status: "queued" | "sent"): SQL | undefined =>
  and(eq(relays.chain, chain), eq(relays.key, key), eq(relays.status, status), due);

export const dueQueued = (chain: string, key: RelayKey, limit: number): Promise<readonly RelayRow[]> =>
  database()
    .select()
    .from(relays)
    .where(ofSender(chain, key, "queued"))
    .orderBy(asc(relays.relayId))
    .limit(limit);

/** Check constraints of the table give sent rows all fields of SentRelay but maxPriorityFeePerGas, which storeSigned sets. */
export async function dueSent(chain: string, key: RelayKey, limit: number): Promise<readonly SentRelay[]> {
  const rows = await database()
    .select()
    .from(relays)
    .where(ofSender(chain, key, "sent"))
    .orderBy(asc(relays.nonce))
    .limit(limit);
  return rows as SentRelay[];
}

type Nonces = { readonly chain: string; readonly signer: string; readonly used: number };

/**
 * The lowest free nonce, because no transaction is mined while a lower nonce is missing. Returns null if `used`, the signer's
 * transaction count, lacks a transaction that was mined a moment ago, because the node is then behind.
 */
export async function nextNonce(tx: Tx, { chain, signer, used }: Nonces): Promise<number | null> {
  const rows = await tx
    .select({
      nonce: relays.nonce,
      isSent: sql<boolean>`status = 'sent'`,
      isJustMined: sql<boolean>`coalesce(${isRecent(relays.resolvedAt, nodeBehindMs(chain))}, false)`,
    })
    .from(relays)
    .where(and(eq(relays.chain, chain), eq(relays.signer, signer), gte(relays.nonce, used)));
  if (rows.some(({ isJustMined }) => isJustMined)) return null;
  const taken = rows.flatMap(({ nonce, isSent }) => (isSent && nonce !== null ? [nonce] : []));
  return freeNonces(used, taken, 1)[0] ?? null;
}

/** Returns null if the transaction is no longer queued. */
export async function storeSigned(tx: Tx, { relayId }: RelayRow, signed: SignedRelay): Promise<SentRelay | null> {
  const [row] = await tx
    .update(relays)
    .set({ ...signed, status: "sent", sentAt: now, nextCheckAt: after(300), attempts: 0, failure: null })
    .where(and(eq(relays.relayId, relayId), eq(relays.status, "queued")))
    .returning();
  return (row as SentRelay | undefined) ?? null;
}

/** Keeps the earlier hash, because the earlier signed bytes may still be mined. Returns null if the row has changed. */
export async function storeReplacement(tx: Tx, sent: SentRelay, signed: SignedRelay): Promise<SentRelay | null> {
  const [row] = await tx
    .update(relays)
    .set({
      ...signed,
      earlierHashes: [...sent.earlierHashes, sent.hash],
      sentAt: now,
      nextCheckAt: after(300),
      attempts: sql`${relays.attempts} + 1`,
    })
    .where(and(eq(relays.relayId, sent.relayId), eq(relays.status, "sent"), eq(relays.hash, sent.hash)))
    .returning();
  return (row as SentRelay | undefined) ?? null;
}

/** With `failure`, the attempt counts as failed. Without it, the stored reason and the number of attempts stay. */
export async function postponeRelay(relayId: string, milliseconds: number, failure?: string): Promise<void> {
  await database()
    .update(relays)
    .set({
      nextCheckAt: after(milliseconds),
      ...(failure !== undefined && { failure, attempts: sql`${relays.attempts} + 1` }),
    })
    .where(and(eq(relays.relayId, relayId), open));
}

/** `blockNumber` is the block that contains the transaction, which may still change; null if none is known. */
export async function lookAgain(relayId: string, milliseconds: number, blockNumber: bigint | null): Promise<void> {
  await database()
    .update(relays)
    .set({ nextCheckAt: after(milliseconds), blockNumber })
    .where(and(eq(relays.relayId, relayId), eq(relays.status, "sent")));
}

/** Abandoning is safe: a queued transaction was never signed, or the chain has used its nonce. False if it is not queued. */
export async function abandon(relayId: string, failure: string): Promise<boolean> {
  const rows = await database()
    .update(relays)
    .set({ status: "abandoned", failure, resolvedAt: now })
    .where(and(eq(relays.relayId, relayId), eq(relays.status, "queued")))
    .returning({ relayId: relays.relayId });
  return rows.length === 1;
}

export type RelayReceipt = {
  readonly hash: string;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  readonly blockNumber: bigint;
  readonly success: boolean;
};

const hashesWith = (sent: SentRelay): string[] => [...sent.earlierHashes, sent.hash];

/** Stores the hash of the version that was mined. Returns false if the row has changed. */
export async function resolveRelay(sent: SentRelay, { success, ...mined }: RelayReceipt): Promise<boolean> {
  const rows = await database()
    .update(relays)
    .set({
      ...mined,
      status: success ? "mined" : "reverted",
      earlierHashes: hashesWith(sent).filter((hash) => hash !== mined.hash),
      rawTransaction: null,
      failure: success ? null : "The transaction was reverted on the chain.",
      resolvedAt: now,
    })
    .where(and(eq(relays.relayId, sent.relayId), eq(relays.status, "sent"), eq(relays.hash, sent.hash)))
    .returning({ relayId: relays.relayId });
  return rows.length === 1;
}

/** Queues a sent transaction again, because its nonce was used on the chain, by another transaction or by its own revert. */
export async function requeue(sent: SentRelay, milliseconds: number, failure: string): Promise<void> {
  await database()
    .update(relays)
    .set({
      status: "queued",
      earlierHashes: hashesWith(sent),
      signer: null,
      nonce: null,
      hash: null,
      rawTransaction: null,
      sentAt: null,
      nextCheckAt: after(milliseconds),
      attempts: sql`${relays.attempts} + 1`,
      failure,
    })
    .where(and(eq(relays.relayId, sent.relayId), eq(relays.status, "sent"), eq(relays.hash, sent.hash)));
}

/** `reason`: of all transactions with a stored `failure`, that of the one that is checked next. */
export const openBySender = () =>
  database()
    .select({
      chain: relays.chain,
      key: relays.key,
      queued: sql<string>`count(*) FILTER (WHERE status = 'queued')`,
      sent: sql<string>`count(*) FILTER (WHERE status = 'sent')`,
      oldest: min(relays.createdAt),
      oldestSeconds: sql<string>`extract(epoch FROM clock_timestamp() - min(created_at))`,
      /** The longest wait of a transaction that is in no block: since it was signed or, if signed more than once, was created. */
      waitingSeconds: sql<string>`coalesce(extract(epoch FROM clock_timestamp() - min(CASE earlier_hashes WHEN '{}' THEN sent_at ELSE created_at END) FILTER (WHERE status = 'sent' AND block_number IS NULL)), 0)`,
      reason: sql<string | null>`(array_agg(failure ORDER BY next_check_at) FILTER (WHERE failure IS NOT NULL))[1]`,
    })
    .from(relays)
    .where(open)
    .groupBy(relays.chain, relays.key);
