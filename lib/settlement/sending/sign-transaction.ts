import { keccak256, type Hex } from "viem";
import { log } from "#lib/telemetry/log.ts";
import { chainIdOf } from "#lib/chains/chains.ts";
import { chainFailure, publicClient } from "#lib/chains/client.ts";
import type { Fees } from "#lib/onchain/relay-fees.ts";
import type { SignedBytes } from "#lib/settlement/transaction-store.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";

type UnsignedTransaction = Fees & {
  readonly chain: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly nonce: number;
  readonly gasLimit: bigint;
};

export async function signTransaction(transaction: UnsignedTransaction): Promise<SignedBytes> {
  const { chain, to, data, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const call = { chainId: chainIdOf(chain), to, data, nonce, gas: gasLimit, maxFeePerGas, maxPriorityFeePerGas };
  const rawTransaction = await settlementAccount().signTransaction({ ...call, type: "eip1559" });
  return { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, rawTransaction, hash: keccak256(rawTransaction) };
}

/** A node's error is not a failure, because followTransactions goes on with the stored transaction. */
export async function broadcast(chain: string, { rawTransaction, hash }: { rawTransaction: Hex; hash: Hex }): Promise<void> {
  try {
    await publicClient(chain).sendRawTransaction({ serializedTransaction: rawTransaction });
  } catch (error) {
    log().info({ chain, transactionHash: hash, reason: chainFailure(error) }, "A node did not take a transaction now");
  }
}
