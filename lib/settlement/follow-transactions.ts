import { clock } from "#lib/audit/store.ts";
import { numberToHex, type Hex } from "viem";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { broadcast, chainFailure, isChainError, publicClient } from "#lib/chains/client.ts";
import { confirmedBlock, finalBlock, isFinalAtOnce, isOver } from "#lib/onchain/evidence.ts";
import { freeNonces } from "#lib/chains/free-nonces.ts";
import { receiptNow } from "#lib/chains/receipts.ts";
import { raisedFees } from "#lib/onchain/relay-fees.ts";
import { extendLease, holdsLease, underLease, type Lease } from "#lib/onchain/relay-lease-store.ts";
import { feeCap, readMarket } from "#lib/onchain/relay/relay-send.ts";
import { factsNow, feesNow, NoGas, sendGroup } from "#lib/settlement/sending/send-group.ts";
import { signTransaction } from "#lib/settlement/sending/sign-transaction.ts";
import * as store from "#lib/settlement/transaction-store.ts";
import type { TransactionRow } from "#lib/settlement/transaction-store.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { ageOf } from "#lib/time.ts";

const BATCH = 128;
const AT_ONCE = 16;
/** A key's next transaction that is in no block this many milliseconds after signing counts as stuck. */
const STUCK_MS = 20_000;
/** For this many milliseconds after signing, a missing receipt proves nothing: the node may not have the newest blocks. */
const LOST_MS = 15_000;
/** A gap in the nonces is filled once a transaction has waited this many seconds; until then, a new settlement may take it. */
const GAP_SECONDS = 3;
const GAPS_MAX = 16;
const AGAIN_MS_MIN = 400;
const AGAIN_MS_MAX = 10_000;

const age = ({ sentAt }: TransactionRow, now: Date): number => ageOf(sentAt, now);
const againIn = (milliseconds: number): number => Math.min(AGAIN_MS_MAX, Math.max(AGAIN_MS_MIN, milliseconds / 4));

/** A lease allows one process per chain. Returns the number of chains with transactions to check. */
export async function followTransactions(): Promise<number> {
  const chains = (await store.chainsWithDueTransactions()).filter((chain) => chainOf(chain) !== null);
  await Promise.all(chains.map((chain) => underLease(chain, "settlement", (lease) => followChain(chain, lease))));
  return chains.length;
}

async function followChain(chain: string, lease: Lease): Promise<void> {
  try {
    await checkDue(chain, lease);
    await fillGaps(chain);
  } catch (error) {
    if (!isChainError(error) && !(error instanceof NoGas)) throw error;
    const reason = error instanceof NoGas ? error.message : chainFailure(error);
    log().warn({ chain, reason }, "The settlements of a chain cannot be followed now; they are looked at again");
  }
}

type Counts = { readonly used: number; readonly usedForGood: number };
type ChainState = {
  readonly chain: string;
  readonly now: Date;
  readonly lease: Lease;
  /** How many nonces a key has used at the newest block (`used`) and at the newest confirmed block (`usedForGood`). */
  countsOf(address: Hex): Promise<Counts>;
};

/** After a failure it starts no further row. */
async function inParallel<T>(rows: readonly T[], work: (row: T) => Promise<void>): Promise<void> {
  const open = [...rows];
  const worker = async (): Promise<void> => {
    for (let one = open.shift(); one; one = open.shift()) await work(one);
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    open.length = 0;
  }
}

function countsOn(chain: string, depth: bigint): ChainState["countsOf"] {
  const known = new Map<Hex, Promise<Counts>>();
  const read = async (address: Hex): Promise<Counts> => {
    const [used, usedForGood] = await Promise.all([
      publicClient(chain).getTransactionCount({ address, blockTag: "latest" }),
      publicClient(chain).getTransactionCount({ address, blockNumber: depth }),
    ]);
    return { used, usedForGood };
  };
  return (address) => {
    const counts = known.get(address) ?? read(address);
    known.set(address, counts);
    return counts;
  };
}

async function checkDue(chain: string, lease: Lease): Promise<void> {
  const [due, depth, final, now] = await Promise.all([
    store.dueTransactions(chain, BATCH),
    confirmedBlock(chain),
    finalBlock(chain),
    clock(database()),
  ]);
  const mined: store.MinedTransaction[] = [];
  const missing: TransactionRow[] = [];
  await inParallel(due, async (row) => {
    const found = await minedOf(row);
    if (found) mined.push(found);
    else missing.push(row);
  });
  await store.endMined(mined.filter(({ blockNumber }) => blockNumber <= final));
  await store.noteMined(
    mined.filter(({ blockNumber }) => blockNumber > final),
    isFinalAtOnce(chain) ? AGAIN_MS_MIN * 2 : AGAIN_MS_MAX,
  );
  if (missing.length === 0 || !(await extendLease(lease))) return;
  const state = { chain, now, lease, countsOf: countsOn(chain, depth) };
  const waiting: TransactionRow[] = [];
  await inParallel(missing, async (row) => {
    if (await continueWaiting(row, state)) waiting.push(row);
  });
  await store.noteWaiting(
    waiting.map((row) => ({ ...row, againInMs: againIn(age(row, now)) })),
    now,
  );
}

async function minedOf({ chain, transactionId, hash, earlierHashes }: TransactionRow): Promise<store.MinedTransaction | null> {
  for (const one of [hash, ...(earlierHashes as Hex[])]) {
    const receipt = await receiptNow(chain, one);
    if (receipt) return { transactionId, hash: one, blockNumber: receipt.blockNumber };
  }
  return null;
}

/** Returns true if the stored transaction stays unchanged and waits. */
async function continueWaiting(row: TransactionRow, state: ChainState): Promise<boolean> {
  const { chain, now, lease } = state;
  if (row.validBefore !== null && row.validBefore <= now) {
    // The chain's clock may be behind: until it is past the deadline, a later block may still contain the call.
    if (!(await isOver(chain, "latest", row.validBefore, now))) return true;
    await store.dropTransaction(row);
    return false;
  }
  const { used, usedForGood } = await state.countsOf(row.signer as Hex);
  if (usedForGood > row.nonce && age(row, now) >= LOST_MS) return sendAnew(row, lease);
  const stuck = used === row.nonce && age(row, now) >= STUCK_MS && (await replace(row, lease));
  if (stuck) return false;
  if (used <= row.nonce) await broadcast(chain, row);
  return true;
}

const isOurs = (row: TransactionRow): boolean => row.signer === settlementAccount().address.toLowerCase();

/** Returns false if another key signed the transaction or the fees are at their limit. */
async function replace(row: TransactionRow, lease: Lease): Promise<boolean> {
  const { chain } = row;
  if (!isOurs(row)) return false;
  const market = await readMarket(chain);
  const fees = raisedFees(row, market, feeCap());
  if (!fees) {
    log().warn({ chain, transactionHash: row.hash }, "A settlement is stuck, and its fees are at their limit");
    return false;
  }
  const signed = await signTransaction({ ...row, ...fees });
  const stored = await database().transaction(
    async (tx) => (await holdsLease(tx, lease)) && (await store.storeAnew(tx, row, signed)),
  );
  if (!stored) return true;
  log().info({ chain, transactionHash: signed.hash }, "A stuck settlement is replaced with higher fees");
  await broadcast(chain, signed);
  return true;
}

/** A new nonce is safe, because the token accepts each signed payment only once. True if the base fee is too high to send now. */
async function sendAnew(row: TransactionRow, lease: Lease): Promise<boolean> {
  const { chain } = row;
  if (!isOurs(row)) {
    await store.dropTransaction(row);
    return false;
  }
  log().error({ chain, transactionHash: row.hash }, "Something else used the nonce of a settlement; it is sent with another one");
  const { address } = settlementAccount();
  const [fees, used] = await Promise.all([
    feesNow(chain),
    publicClient(chain).getTransactionCount({ address, blockTag: "latest" }),
  ]);
  if (!fees) {
    log().warn({ chain, transactionHash: row.hash }, "The chain's base fee is above the configured limit; a settlement waits");
    return true;
  }
  const signed = await database().transaction(async (tx) => {
    await store.lockNonces(tx, row);
    if (!(await holdsLease(tx, lease))) return null;
    const [nonce] = freeNonces(used, await store.takenNonces(tx, row, used), 1);
    const bytes = await signTransaction({ ...row, ...fees, nonce: nonce! });
    return (await store.storeAnew(tx, row, bytes)) ? bytes : null;
  });
  if (signed) await broadcast(chain, signed);
  return false;
}

/** A nonce without a transaction blocks all higher ones, so the settlement key sends itself a transaction without value. */
async function fillGaps(chain: string): Promise<void> {
  const { address } = settlementAccount();
  const waiting = await store.waitingOf(chain, address.toLowerCase());
  if (!waiting || waiting.seconds < GAP_SECONDS) return;
  const used = await publicClient(chain).getTransactionCount({ address, blockTag: "latest" });
  const taken = await database().transaction((tx) => store.takenNonces(tx, { chain, signer: address.toLowerCase() }, used));
  const gaps = freeNonces(used, taken, GAPS_MAX).filter((nonce) => nonce < waiting.highest);
  if (gaps.length === 0) return;
  log().warn({ chain, gaps: gaps.length }, "Nonces that no transaction has are filled");
  // Pay double fees: a node may have an earlier transaction with this nonce, and replaces it only for higher fees.
  const calls = gaps.map((nonce) => ({ to: address, data: numberToHex(nonce, { size: 8 }), validBefore: null }));
  const { outcomes, sent } = await sendGroup(chain, calls, factsNow(chain), 2n);
  await sent;
  for (const outcome of outcomes) if ("error" in outcome) throw outcome.error;
}
