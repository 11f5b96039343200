import type { Hex } from "viem";
import { and, asc, eq, gte, inArray, lte, min, or, sql, type SQL } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { after, isRecent } from "#lib/db/leases.ts";
import { nodeBehindMs } from "#lib/chains/free-nonces.ts";
import type { Fees } from "#lib/onchain/relay-fees.ts";
import { settlementTransactions as transactions } from "#lib/settlement/tables.ts";

export type TransactionRow = Omit<typeof transactions.$inferSelect, "hash" | "to" | "data" | "rawTransaction"> & {
  readonly hash: Hex;
  readonly to: Hex;
  readonly data: Hex;
  readonly rawTransaction: Hex;
};
type NewTransaction = typeof transactions.$inferInsert;
export type SignedBytes = Fees & {
  readonly nonce: number;
  readonly gasLimit: bigint;
  readonly rawTransaction: Hex;
  readonly hash: Hex;
};

const KEPT_DAYS = 7;
const FIRST_LOOK_MS = 1_000;

const now = sql`statement_timestamp()`;
const sent = eq(transactions.status, "sent");

type Signer = { readonly chain: string; readonly signer: string };
const ofSigner = ({ chain, signer }: Signer): SQL | undefined =>
  and(eq(transactions.chain, chain), eq(transactions.signer, signer));

/** Until commit, no other process takes a nonce of the signer. Reads after the lock see every nonce that was stored before. */
export async function lockNonces(tx: Tx, { chain, signer }: Signer): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`settlement nonces ${chain} ${signer}`}, 0))`);
}

/** Includes those of transactions that became final just now, because a node without the newest blocks may not count them yet. */
export async function takenNonces(tx: Tx, signer: Signer, used: number): Promise<readonly number[]> {
  const minedJustNow = and(eq(transactions.status, "mined"), isRecent(transactions.resolvedAt, nodeBehindMs(signer.chain)));
  const rows = await tx
    .select({ nonce: transactions.nonce })
    .from(transactions)
    .where(and(ofSigner(signer), gte(transactions.nonce, used), or(sent, minedJustNow)));
  return rows.map(({ nonce }) => nonce);
}

/** The hash of the transaction of each call that was sent and is not final, by the hash of the call. */
export async function knownCalls(tx: Tx, chain: string, callHashes: readonly string[]): Promise<ReadonlyMap<string, Hex>> {
  const rows = await tx
    .select({ callHash: transactions.callHash, hash: transactions.hash })
    .from(transactions)
    .where(and(eq(transactions.chain, chain), inArray(transactions.callHash, [...callHashes]), sent));
  return new Map(rows.map(({ callHash, hash }) => [callHash, hash as Hex]));
}

export type StoredCall = Omit<NewTransaction, "status" | "nextCheckAt">;

export async function insertTransactions(tx: Tx, rows: readonly StoredCall[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insert(transactions)
    .values(rows.map((row) => ({ ...row, status: "sent" as const, nextCheckAt: after(FIRST_LOOK_MS) as unknown as Date })));
}

const due = and(sent, lte(transactions.nextCheckAt, now));

export async function chainsWithDueTransactions(): Promise<readonly string[]> {
  const rows = await database().selectDistinct({ chain: transactions.chain }).from(transactions).where(due);
  return rows.map(({ chain }) => chain);
}

/** Transactions that are in no block come first. */
export async function dueTransactions(chain: string, limit: number): Promise<readonly TransactionRow[]> {
  const rows = await database()
    .select()
    .from(transactions)
    .where(and(eq(transactions.chain, chain), due))
    .orderBy(asc(sql`(block_number IS NOT NULL)`), asc(transactions.nonce))
    .limit(limit);
  return rows as TransactionRow[];
}

/** The highest nonce whose transaction is in no block, and the seconds for which the oldest of them has waited. */
export async function waitingOf(chain: string, signer: string) {
  const [row] = await database()
    .select({
      highest: sql<string | null>`max(nonce)`,
      seconds: sql<string | null>`extract(epoch FROM clock_timestamp() - min(waiting_since))`,
    })
    .from(transactions)
    .where(and(ofSigner({ chain, signer }), sent, sql`block_number IS NULL`));
  return row?.highest ? { highest: Number(row.highest), seconds: Number(row.seconds) } : null;
}

export const oldestWaiting = () =>
  database()
    .select({
      chain: transactions.chain,
      seconds: sql<string>`extract(epoch FROM clock_timestamp() - ${min(transactions.waitingSince)})`,
    })
    .from(transactions)
    .where(and(sent, sql`block_number IS NULL`))
    .groupBy(transactions.chain);

export type MinedTransaction = { readonly transactionId: string; readonly hash: string; readonly blockNumber: bigint };

const listed = (values: readonly (string | bigint)[], type: string): SQL =>
  sql`unnest(string_to_array(${values.join(",")}, ',')::${sql.raw(type)}[])`;

function foundIn(mined: readonly MinedTransaction[]): SQL {
  const ids = mined.map(({ transactionId }) => transactionId);
  const hashes = mined.map(({ hash }) => hash);
  const blocks = mined.map(({ blockNumber }) => blockNumber);
  return sql`(
    SELECT ${listed(ids, "text")} AS id, ${listed(hashes, "text")} AS hash, ${listed(blocks, "bigint")} AS block_number) AS found`;
}

/** Call this when their block is final. The stored hash becomes the mined one, which may be that of an earlier version. */
export async function endMined(mined: readonly MinedTransaction[]): Promise<void> {
  if (mined.length === 0) return;
  await database().execute(sql`UPDATE settlement_transactions t
    SET status = 'mined', hash = found.hash, block_number = found.block_number, raw_transaction = NULL, resolved_at = ${now}
    FROM ${foundIn(mined)} WHERE t.transaction_id = found.id AND t.status = 'sent'`);
}

/** Call this while the block of these transactions is not final and may still be replaced. */
export async function noteMined(mined: readonly MinedTransaction[], againInMs: number): Promise<void> {
  if (mined.length === 0) return;
  await database().execute(sql`UPDATE settlement_transactions t
    SET block_number = found.block_number, next_check_at = ${after(againInMs)}
    FROM ${foundIn(mined)} WHERE t.transaction_id = found.id AND t.status = 'sent'`);
}

/** Stores that transactions are in no block. One that was in a block until now begins to wait at `at`. */
export async function noteWaiting(
  waiting: readonly { readonly transactionId: string; readonly againInMs: number }[],
  at: Date,
): Promise<void> {
  if (waiting.length === 0) return;
  const ids = waiting.map(({ transactionId }) => transactionId);
  const pauses = waiting.map(({ againInMs }) => BigInt(Math.round(againInMs)));
  await database().execute(sql`UPDATE settlement_transactions t
    SET block_number = NULL, next_check_at = again.due,
      waiting_since = CASE WHEN t.block_number IS NULL THEN t.waiting_since ELSE ${at.toISOString()}::timestamptz END
    FROM (SELECT ${listed(ids, "text")} AS id, ${now} + ${listed(pauses, "bigint")} * interval '1 millisecond' AS due) AS again
    WHERE t.transaction_id = again.id AND t.status = 'sent'`);
}

/** Keeps the earlier hash, because the earlier bytes may still be mined. Returns false if the stored row has changed. */
export async function storeAnew(tx: Tx, row: TransactionRow, signed: SignedBytes): Promise<boolean> {
  const rows = await tx
    .update(transactions)
    .set({
      ...signed,
      earlierHashes: [...row.earlierHashes, row.hash],
      blockNumber: null,
      ...(row.blockNumber !== null && { waitingSince: now }),
      sentAt: now,
      nextCheckAt: after(FIRST_LOOK_MS),
    })
    .where(and(eq(transactions.transactionId, row.transactionId), sent, eq(transactions.hash, row.hash)))
    .returning({ hash: transactions.hash });
  return rows.length === 1;
}

/** Another call can then take the nonce. */
export async function dropTransaction({ transactionId, hash }: TransactionRow): Promise<void> {
  await database()
    .update(transactions)
    .set({ status: "dropped", rawTransaction: null, resolvedAt: now })
    .where(and(eq(transactions.transactionId, transactionId), sent, eq(transactions.hash, hash)));
}

/** Transactions are kept for a week after their end, so that operators can look into questions about gas and nonces. */
export const forgetOldTransactions = (): Promise<number> => deleteOld(transactions.resolvedAt, KEPT_DAYS, sql`status <> 'sent'`);
