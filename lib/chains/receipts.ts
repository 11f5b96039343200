import { setTimeout as pause } from "node:timers/promises";
import type { Hex, TransactionReceipt } from "viem";
import { lookEveryMs } from "#lib/chains/block-time.ts";
import { isChainError, POLLING_MS, publicClient } from "#lib/chains/client.ts";

/** Null if the node has no receipt of the transaction. @throws any other error of the node */
export async function receiptNow(chain: string, hash: Hex): Promise<TransactionReceipt | null> {
  try {
    return await publicClient(chain).getTransactionReceipt({ hash });
  } catch (error) {
    if (isChainError(error) && error.name === "TransactionReceiptNotFoundError") return null;
    throw error;
  }
}

/** Asks until a block contains the transaction, also after errors of the node. Null if there is no receipt in time. */
export async function receiptWithin(chain: string, hash: Hex, milliseconds: number): Promise<TransactionReceipt | null> {
  const until = performance.now() + milliseconds;
  // Wait only briefly at first, because some chains make a block at once.
  for (let waitMs = 10; ; waitMs = waitMs < POLLING_MS ? waitMs * 2 : await lookEveryMs(chain)) {
    const receipt = await receiptNow(chain, hash).catch(() => null);
    if (receipt || performance.now() + waitMs >= until) return receipt;
    await pause(waitMs);
  }
}
