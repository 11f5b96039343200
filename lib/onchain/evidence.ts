import { parseEventLogs, type Hex, type PublicClient, type TransactionReceipt } from "viem";
import type { ChainConfiguration } from "#lib/env.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { publicClient } from "#lib/chains/client.ts";
import { tokenAbi } from "#lib/onchain/token.ts";

/** The transfer that a signed x402 payment authorizes. Addresses and nonce are in lower case. */
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

export type Evidence =
  | { readonly kind: "transferred"; readonly transaction: Hex }
  /** A cancellation, or a transaction without this transfer. */
  | { readonly kind: "spent"; readonly transaction: Hex | null; readonly canceled: boolean }
  /** The nonce or payment id is unused, and the deadline of the transfer has passed. */
  | { readonly kind: "expired" }
  | { readonly kind: "unused" };

/** The maximum number of blocks in one log query, because RPC providers limit it. */
const LOG_BLOCKS = 2_000n;
/** Milliseconds after a deadline at which isOver uses `now` on a chain without confirmations, whose newest block may be old. */
const LOCAL_GRACE_MS = 2_000;

function configurationOf(chain: string): ChainConfiguration {
  const configuration = chainOf(chain);
  if (!configuration) throw new Error("The chain is not configured.");
  return configuration;
}

export async function confirmedBlock(chain: string): Promise<bigint> {
  const newest = await publicClient(chain).getBlockNumber();
  const depth = BigInt(configurationOf(chain).confirmations);
  return newest > depth ? newest - depth : 0n;
}

/** Whether a confirmed block is also final. */
export function isFinalAtOnce(chain: string): boolean {
  const { finality, confirmations } = configurationOf(chain);
  return finality === undefined || (finality !== "finalized" && finality <= confirmations);
}

/** Returns a block; it and all before it are final, according to the chain's configuration. */
export async function finalBlock(chain: string): Promise<bigint> {
  const { finality } = configurationOf(chain);
  if (isFinalAtOnce(chain) || finality === undefined) return confirmedBlock(chain);
  if (finality === "finalized") return (await publicClient(chain).getBlock({ blockTag: "finalized" })).number;
  const newest = await publicClient(chain).getBlockNumber();
  return newest > BigInt(finality) ? newest - BigInt(finality) : 0n;
}

/** Whether the deadline has passed for every block after this block; on a chain without confirmations, `now` decides too. */
export async function isOver(chain: string, block: bigint | "latest", deadline: Date, now: Date): Promise<boolean> {
  const which = block === "latest" ? { blockTag: block } : { blockNumber: block };
  const { timestamp } = await publicClient(chain).getBlock(which);
  const at = deadline.getTime();
  const byOurClock = configurationOf(chain).confirmations === 0 && now.getTime() >= at + LOCAL_GRACE_MS;
  return Number(timestamp) * 1000 >= at || byOurClock;
}

export const nonceUsedAt = (
  { chain, tokenAddress, payer, nonce }: Pick<AuthorizedTransfer, "chain" | "tokenAddress" | "payer" | "nonce">,
  blockNumber: bigint,
): Promise<boolean> =>
  publicClient(chain).readContract({
    address: tokenAddress,
    abi: tokenAbi,
    functionName: "authorizationState",
    args: [payer, nonce],
    blockNumber,
  });

async function evidenceAt(transfer: AuthorizedTransfer, now: Date, depth: bigint): Promise<Evidence> {
  const { chain, validBefore } = transfer;
  const [used, over] = await Promise.all([nonceUsedAt(transfer, depth), isOver(chain, depth, validBefore, now)]);
  if (used) return whoUsedIt(publicClient(chain), transfer, depth);
  return { kind: over ? "expired" : "unused" };
}

/**
 * Reads block `at` or else the newest confirmed block. Without `at`, "spent" and "expired" are returned only if the final block
 * shows the same.
 */
export async function judgeBlocks(chain: string, read: (block: bigint) => Promise<Evidence>, at?: bigint): Promise<Evidence> {
  const found = await read(at ?? (await confirmedBlock(chain)));
  const endsPayment = found.kind === "spent" || found.kind === "expired";
  if (!endsPayment || at !== undefined || isFinalAtOnce(chain)) return found;
  const final = await read(await finalBlock(chain));
  return final.kind === found.kind ? final : { kind: "unused" };
}

/** Reads blocks like judgeBlocks. @throws if the chain does not answer, or has no event of a nonce that was used */
export const readEvidence = (transfer: AuthorizedTransfer, now: Date, at?: bigint): Promise<Evidence> =>
  judgeBlocks(transfer.chain, (block) => evidenceAt(transfer, now, block), at);

/** Newest first: an event that earlier checks did not see is recent, and the first block may be years back. */
export function* blockRanges(first: bigint, last: bigint) {
  for (let toBlock = last; toBlock >= first; toBlock -= LOG_BLOCKS) {
    const start = toBlock - LOG_BLOCKS + 1n;
    yield { fromBlock: start > first ? start : first, toBlock };
  }
}

async function whoUsedIt(client: PublicClient, transfer: AuthorizedTransfer, depth: bigint): Promise<Evidence> {
  const args = { authorizer: transfer.payer, nonce: transfer.nonce };
  for (const blocks of blockRanges(transfer.fromBlock, depth)) {
    const range = { address: transfer.tokenAddress, ...blocks } as const;
    const [used] = await client.getContractEvents({ ...range, abi: tokenAbi, eventName: "AuthorizationUsed", args });
    if (used) return judgeReceipt(await client.getTransactionReceipt({ hash: used.transactionHash }), transfer);
    const [canceled] = await client.getContractEvents({ ...range, abi: tokenAbi, eventName: "AuthorizationCanceled", args });
    if (canceled) return { kind: "spent", transaction: canceled.transactionHash, canceled: true };
  }
  throw new Error("The token says that the authorization was used, and no event of it was found.");
}

/** The token writes AuthorizationUsed and then the Transfer of the same payment; a transaction may contain several payments. */
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
