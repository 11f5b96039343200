import {
  createPublicClient,
  defineChain,
  http,
  type BaseError,
  type Chain,
  type Hex,
  type PublicClient,
  type Transport,
} from "viem";
import { chainIdOf, chainOf } from "#lib/chains/chains.ts";
import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { atMost } from "#lib/time.ts";

/** The shortest pause that lookEveryMs returns. */
export const POLLING_MS = 200;

const TIMEOUT_MS = 4_000;
/** A call without an answer is sent again after each of these waits, because its request or its answer may be lost. */
const REPEAT_AFTER_MS = [1_000, 1_500];

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

/** Rejects only if chainIsSilent; else the function returns the node's result or throws its error, such as a revert. */
const answerOf = <T>(attempt: Promise<T>): Promise<() => T> =>
  attempt.then(
    (value) => () => value,
    (error: unknown) => {
      if (chainIsSilent(error)) throw error;
      return () => {
        throw error;
      };
    },
  );

/** Repeats a call that gets no answer, which is safe, because a chain accepts a signed transaction only once. */
const transport = (chain: string): Transport => {
  const connect = http(chainOf(chain)?.rpcUrl, { timeout: TIMEOUT_MS, retryCount: 1, retryDelay: 100, batch: { batchSize: 64 } });
  return (parameters) => {
    const one = connect(parameters);
    const request: typeof one.request = async (call, options) => {
      const attempts = [answerOf(one.request(call, options))];
      const first = () => Promise.any(attempts).catch((all: AggregateError) => Promise.reject(all.errors[0] as Error));
      for (const waitMs of REPEAT_AFTER_MS) {
        const answer = await atMost(first(), waitMs, null);
        if (answer) return answer() as never;
        attempts.push(answerOf(one.request(call, { ...options, retryCount: 0 })));
      }
      return (await first())() as never;
    };
    return { ...one, request };
  };
};

export const publicClient = (chain: string): PublicClient =>
  perProcess(`chains/client ${chain}`, () =>
    createPublicClient({ chain: viemChain(chain), transport: transport(chain), pollingInterval: POLLING_MS, cacheTime: 0 }),
  );

export const newestBlock = (chain: string): Promise<bigint> => publicClient(chain).getBlockNumber({ cacheTime: 0 });

/** Checks fields and not the class, because the pages are bundled with their own viem but use the clients of the server. */
export const isChainError = (error: unknown): error is BaseError =>
  error instanceof Error && "shortMessage" in error && "walk" in error;

/** The loggable part of an error: viem's messages contain the provider's URL with its key, and signed transactions. */
export const chainFailure = (error: unknown): string =>
  isChainError(error) ? error.shortMessage : error instanceof Error ? error.name : "unknown";

/** Whether the node gave no result for the call, such as after a timeout or at a rate limit. True for errors not from viem. */
export const chainIsSilent = (error: unknown): boolean =>
  !isChainError(error) ||
  error.walk(
    (cause) => cause instanceof Error && ["HttpRequestError", "TimeoutError", "LimitExceededRpcError"].includes(cause.name),
  ) !== null;

/** Whether the contract reverted; false for other errors, such as a provider's rate limit. */
export const chainReverted = (error: unknown): boolean =>
  isChainError(error) && error.walk((cause) => cause instanceof Error && cause.name === "ExecutionRevertedError") !== null;

/** Whether a call needs more gas than it was given. Nodes report this only as text, because no error code exists for it. */
export const ranOutOfGas = (error: unknown): boolean =>
  isChainError(error) && error.walk((cause) => isChainError(cause) && /out ?of ?gas/i.test(cause.details)) !== null;

type SignedBytes = { readonly rawTransaction: Hex; readonly hash: Hex; readonly relayId?: string };

/** A node's error is only logged, because whoever follows the transaction sends the stored bytes again or replaces them. */
export async function broadcast(chain: string, { rawTransaction, hash, relayId }: SignedBytes): Promise<void> {
  try {
    await publicClient(chain).sendRawTransaction({ serializedTransaction: rawTransaction });
  } catch (error) {
    log().info({ chain, relayId, transactionHash: hash, reason: chainFailure(error) }, "A node did not take a transaction now");
  }
}
