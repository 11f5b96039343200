import { createPublicClient, defineChain, http, type BaseError, type Chain, type PublicClient, type Transport } from "viem";
import { chainIdOf, chainOf } from "#lib/chains/chains.ts";
import { perProcess } from "#lib/process.ts";

/** viem's default for a chain that it does not know is 4 seconds: settling would take that long. */
export const POLLING_MS = 200;

const TIMEOUT_MS = 4_000;

export const multicallAddress = "0xcA11bde05977b3631167028862bE2a173976CA11";

function viemChain(chain: string): Chain {
  const configuration = chainOf(chain);
  if (!configuration) throw new Error(`The chain ${chain} is not configured.`);
  return defineChain({
    id: chainIdOf(chain),
    name: chain,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [configuration.rpcUrl] } },
    contracts: { multicall3: { address: multicallAddress } },
  });
}

/** Retries reads once; a chain that is slow is a chain that does not answer. */
const transport = (chain: string): Transport =>
  http(chainOf(chain)?.rpcUrl, { timeout: TIMEOUT_MS, retryCount: 1, retryDelay: 100, batch: { batchSize: 64 } });

/** One per chain and process, made when it is first asked for. */
export const publicClient = (chain: string): PublicClient =>
  perProcess(`publicClient ${chain}`, () =>
    createPublicClient({ chain: viemChain(chain), transport: transport(chain), pollingInterval: POLLING_MS, cacheTime: 0 }),
  );

export const newestBlock = (chain: string): Promise<bigint> => publicClient(chain).getBlockNumber({ cacheTime: 0 });

/** By its members: the pages bundle viem, and share the clients of the server, whose viem is another copy with other classes. */
export const isChainError = (error: unknown): error is BaseError =>
  error instanceof Error && "shortMessage" in error && "walk" in error;

/** What may be logged of a failed call: viem's full messages carry the provider's URL and signed transactions. */
export const chainFailure = (error: unknown): string =>
  isChainError(error) ? error.shortMessage : error instanceof Error ? error.name : "unknown";

/** Tells a chain that does not answer from a contract that refuses. */
export const chainIsSilent = (error: unknown): boolean =>
  !isChainError(error) ||
  error.walk(
    (cause) => cause instanceof Error && ["HttpRequestError", "TimeoutError", "LimitExceededRpcError"].includes(cause.name),
  ) !== null;

/** A contract that refused. Everything else, a provider's rate limit for example, says nothing about the call. */
export const chainReverted = (error: unknown): boolean =>
  isChainError(error) && error.walk((cause) => cause instanceof Error && cause.name === "ExecutionRevertedError") !== null;

/** A call that needs more gas than it was given. Nodes have words for it and no code of their own. */
export const ranOutOfGas = (error: unknown): boolean =>
  isChainError(error) && error.walk((cause) => isChainError(cause) && /out ?of ?gas/i.test(cause.details)) !== null;
