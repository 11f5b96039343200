import { keccak256, type Hex } from "viem";
import { chainIdOf } from "#lib/chains/chains.ts";
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
