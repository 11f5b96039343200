import type { ChainConfiguration } from "#lib/env.ts";

/** Keeps the path of `explorerBaseUrl`, where some explorers name the chain. Null if the chain has no explorer. */
export const explorerUrl = (chain: ChainConfiguration | null, page: `tx/${string}` | `address/${string}`): string | null =>
  chain?.explorerBaseUrl === undefined ? null : `${chain.explorerBaseUrl.replace(/\/$/, "")}/${page}`;
