import type { Hex, TransactionReceipt } from "viem";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { broadcast, publicClient } from "#lib/chains/client.ts";
import { confirmedBlock } from "#lib/onchain/evidence.ts";
import { receiptNow } from "#lib/chains/receipts.ts";
import { raisedFees } from "#lib/onchain/relay-fees.ts";
import { holdsLease, type Lease } from "#lib/onchain/relay-lease-store.ts";
import { feeCap, readMarket, sign } from "#lib/onchain/relay/relay-send.ts";
import { ageOf } from "#lib/time.ts";
import { lookAgain, requeue, resolveRelay, storeReplacement, type SentRelay } from "#lib/onchain/relay-store.ts";

/** Milliseconds after signing at which a transaction that is in no block is replaced by the same one with higher fees. */
const STUCK_MS = 30_000;
/** For this many milliseconds after signing, a missing receipt proves nothing: the node may not have the newest blocks. */
const LOST_MS = 60_000;
const AGAIN_MS_MIN = 300;
const AGAIN_MS_MAX = 15_000;

const againIn = (age: number): number => Math.min(AGAIN_MS_MAX, Math.max(AGAIN_MS_MIN, age / 4));

async function receiptOf(sent: SentRelay): Promise<TransactionReceipt | null> {
  const hashes = [sent.hash, ...sent.earlierHashes] as Hex[];
  const receipts = await Promise.all(hashes.map((hash) => receiptNow(sent.chain, hash)));
  for (const receipt of receipts) {
    if (receipt && (receipt.status === "success" || (await hasNonce(sent, receipt)))) return receipt;
  }
  return null;
}

/** The revert of a transaction with an earlier nonce says nothing about the nonce that was signed last. */
async function hasNonce({ chain, nonce }: SentRelay, { transactionHash: hash }: TransactionReceipt): Promise<boolean> {
  return (await publicClient(chain).getTransaction({ hash })).nonce === nonce;
}

/** Checks a sent transaction once. @throws if the chain does not answer */
export async function followRelay(sent: SentRelay, lease: Lease, now: Date): Promise<void> {
  const { chain, relayId } = sent;
  const age = ageOf(sent.sentAt, now);
  const depth = await confirmedBlock(chain);
  const receipt = await receiptOf(sent);
  if (receipt) return receipt.blockNumber <= depth ? book(sent, receipt) : lookAgain(relayId, againIn(age), receipt.blockNumber);
  const used = await publicClient(chain).getTransactionCount({ address: sent.signer, blockNumber: depth });
  if (used > sent.nonce) {
    if (age < LOST_MS) return lookAgain(relayId, againIn(age), null);
    log().error({ relayId, chain }, "Something else used the nonce of a transaction; it is sent with another one");
    return requeue(sent, AGAIN_MS_MIN, "Its nonce was used by another transaction.");
  }
  const replaced = age >= STUCK_MS && (await replace(sent, lease));
  if (!replaced) {
    await broadcast(sent.chain, sent);
    await lookAgain(relayId, againIn(age), null);
  }
}

async function book(sent: SentRelay, receipt: TransactionReceipt): Promise<void> {
  const { chain, key, purpose, relayId } = sent;
  const { gasUsed, effectiveGasPrice: gasPrice, blockNumber, transactionHash: hash } = receipt;
  const success = receipt.status === "success";
  if (!success && key === "guardian") {
    log().error({ relayId, chain }, "A revocation was reverted on the chain; it is sent again");
    await requeue(sent, AGAIN_MS_MAX, "It was reverted on the chain, and is sent again.");
  } else {
    if (!(await resolveRelay(sent, { hash, gasUsed, gasPrice, blockNumber, success }))) return;
  }
  metrics().relayed.inc({ purpose, status: success ? "mined" : "reverted" });
  metrics().relayerGas.inc({ chain, key }, Number(gasUsed * gasPrice));
}

/** Stores the new bytes before sending them. Returns false if the fees are at their limit or the configured key has changed. */
async function replace(sent: SentRelay, lease: Lease): Promise<boolean> {
  const { relayId, chain, nonce, gasLimit, earlierHashes } = sent;
  const fees = raisedFees(sent, await readMarket(chain), feeCap());
  if (!fees) {
    log().warn({ relayId, chain }, "A transaction is stuck, and its fees are at the configured limit");
    return false;
  }
  const signed = await sign(sent, { nonce, gasLimit, fees, fence: lease.fence });
  // If the configured key has changed, this nonce belongs to the old key, so the new key must not use it.
  if (signed.signer !== sent.signer) return false;
  const stored = await database().transaction(async (tx) =>
    (await holdsLease(tx, lease)) ? storeReplacement(tx, sent, signed) : null,
  );
  if (!stored) return true;
  log().info({ relayId, chain, replacements: earlierHashes.length + 1 }, "A stuck transaction is replaced with higher fees");
  await broadcast(stored.chain, stored);
  return true;
}
