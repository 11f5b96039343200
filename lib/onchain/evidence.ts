import { parseEventLogs, type Hex, type PublicClient, type TransactionReceipt } from "viem";
import { chainOf } from "#lib/onchain/chains.ts";
import { publicClient } from "#lib/onchain/client.ts";
import { tokenAbi } from "#lib/onchain/token.ts";

/** The transfer that a credential authorizes. Addresses and nonce are in lower case. */
export type AuthorizedTransfer = {
  readonly chain: string;
  readonly tokenAddress: Hex;
  readonly payer: Hex;
  readonly payTo: Hex;
  readonly amount: bigint;
  readonly nonce: Hex;
  readonly validBefore: Date;
  readonly fromBlock: bigint;
};

/** What the chain proves about it, at the chain's confirmation depth. */
export type Evidence =
  | { readonly kind: "transferred"; readonly transaction: Hex }
  /** The nonce is spent, by a cancellation or by another transfer. */
  | { readonly kind: "spent"; readonly transaction: Hex | null; readonly canceled: boolean }
  /** Unused, and no later block can use it. */
  | { readonly kind: "expired" }
  | { readonly kind: "unused" };

/** Providers bound the range of a log query. */
const LOG_BLOCKS = 2_000n;
/** On a chain that mines only when there is traffic, blocks do not tell the time; its clock is ours. */
const LOCAL_GRACE_MS = 2_000;

const DEPTH_UNKNOWN = "The chain is not configured.";

/** Asks the chain. Throws when it does not answer. */
export async function readEvidence(transfer: AuthorizedTransfer, now: Date): Promise<Evidence> {
  const configuration = chainOf(transfer.chain);
  if (!configuration) throw new Error(DEPTH_UNKNOWN);
  const client = publicClient(transfer.chain);
  const newest = await client.getBlockNumber();
  const depth = newest > BigInt(configuration.confirmations) ? newest - BigInt(configuration.confirmations) : 0n;
  const [used, block] = await Promise.all([
    client.readContract({
      address: transfer.tokenAddress,
      abi: tokenAbi,
      functionName: "authorizationState",
      args: [transfer.payer, transfer.nonce],
      blockNumber: depth,
    }),
    client.getBlock({ blockNumber: depth }),
  ]);
  if (used) return whoUsedIt(client, transfer, depth);
  const deadline = transfer.validBefore.getTime();
  const over =
    Number(block.timestamp) * 1000 >= deadline ||
    (configuration.confirmations === 0 && now.getTime() >= deadline + LOCAL_GRACE_MS);
  return { kind: over ? "expired" : "unused" };
}

async function whoUsedIt(client: PublicClient, transfer: AuthorizedTransfer, depth: bigint): Promise<Evidence> {
  const args = { authorizer: transfer.payer, nonce: transfer.nonce };
  for (let from = transfer.fromBlock; from <= depth; from += LOG_BLOCKS) {
    const toBlock = from + LOG_BLOCKS - 1n < depth ? from + LOG_BLOCKS - 1n : depth;
    const range = { address: transfer.tokenAddress, fromBlock: from, toBlock } as const;
    const [used] = await client.getContractEvents({ ...range, abi: tokenAbi, eventName: "AuthorizationUsed", args });
    if (used) return judgeReceipt(await client.getTransactionReceipt({ hash: used.transactionHash }), transfer);
    const [canceled] = await client.getContractEvents({ ...range, abi: tokenAbi, eventName: "AuthorizationCanceled", args });
    if (canceled) return { kind: "spent", transaction: canceled.transactionHash, canceled: true };
  }
  throw new Error("The token says that the authorization was used, and no event of it was found.");
}

/** The token's events of one transfer follow each other: AuthorizationUsed, then its Transfer. One transaction may carry several. */
export function judgeReceipt(receipt: TransactionReceipt, transfer: AuthorizedTransfer): Evidence {
  const spent: Evidence = { kind: "spent", transaction: receipt.transactionHash, canceled: false };
  if (receipt.status !== "success") return spent;
  const logs = parseEventLogs({
    abi: tokenAbi,
    logs: receipt.logs.filter((log) => log.address.toLowerCase() === transfer.tokenAddress),
  });
  const at = logs.findIndex(
    (log) =>
      log.eventName === "AuthorizationUsed" &&
      log.args.authorizer.toLowerCase() === transfer.payer &&
      log.args.nonce.toLowerCase() === transfer.nonce,
  );
  const next = logs.slice(at + 1).find((log) => log.eventName === "Transfer");
  const moved =
    at >= 0 &&
    next?.eventName === "Transfer" &&
    next.args.from.toLowerCase() === transfer.payer &&
    next.args.to.toLowerCase() === transfer.payTo &&
    next.args.value === transfer.amount;
  return moved ? { kind: "transferred", transaction: receipt.transactionHash } : spent;
}
