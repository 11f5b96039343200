import type { ChainConfiguration } from "#lib/env.ts";

const networks: Readonly<Record<string, string>> = {
  "eip155:1": "Ethereum",
  "eip155:8453": "Base",
  "eip155:84532": "Base Sepolia",
  "eip155:31337": "Local test chain",
  "iso4217:USD": "all networks",
  "iso4217:EUR": "all networks",
};

export const networkName = (chain: string): string => networks[chain] ?? "Network";

/** Keeps the path of `explorerBaseUrl`, where some explorers name the chain. Null if the chain has no explorer. */
export const explorerUrl = (chain: ChainConfiguration | null, page: `tx/${string}` | `address/${string}`): string | null =>
  chain?.explorerBaseUrl === undefined ? null : `${chain.explorerBaseUrl.replace(/\/$/, "")}/${page}`;
