import { setTimeout as pause } from "node:timers/promises";
import type { Hex, TransactionReceipt } from "viem";
import { lookEveryMs } from "#lib/chains/block-time.ts";
import { isChainError, POLLING_MS, publicClient } from "#lib/chains/client.ts";

/** The receipt of a transaction; null if it is in no block. @throws if the chain does not answer */
export async function receiptNow(chain: string, hash: Hex): Promise<TransactionReceipt | null> {
  try {
    return await publicClient(chain).getTransactionReceipt({ hash });
  } catch (error) {
    if (isChainError(error) && error.name === "TransactionReceiptNotFoundError") return null;
    throw error;
  }
}

/** Polls for the receipt of a transaction that was just sent. Null if no block has it in time, or the chain does not answer. */
export async function receiptWithin(chain: string, hash: Hex, milliseconds: number): Promise<TransactionReceipt | null> {
  const until = performance.now() + milliseconds;
  // Wait only shortly at first, for chains that mine at once.
  for (let waitMs = 10; ; waitMs = waitMs < POLLING_MS ? waitMs * 2 : await lookEveryMs(chain)) {
    const receipt = await receiptNow(chain, hash).catch(() => null);
    if (receipt || performance.now() + waitMs >= until) return receipt;
    await pause(waitMs);
  }
}
