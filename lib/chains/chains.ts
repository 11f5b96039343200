import { isUnitChain, UNIT_DECIMALS } from "#lib/money.ts";
import type { Hex } from "viem";
import { env, type ChainConfiguration } from "#lib/env.ts";
import { lower } from "#lib/evm.ts";

/** A configured token, with its address in lower case. */
export type AssetOnChain = {
  readonly chain: string;
  readonly chainId: number;
  readonly asset: string;
  readonly tokenAddress: Hex;
  readonly tokenName: string;
  readonly tokenVersion: string;
  readonly tokenDecimals: number;
};

export const chainOf = (chain: string): ChainConfiguration | null => env().CHAINS.find((entry) => entry.chain === chain) ?? null;

/** The chain for a request that names none: the configured one, if there is only one. Null if several chains are configured. */
export const onlyChain = (): string | null => (env().CHAINS.length === 1 ? (env().CHAINS[0]?.chain ?? null) : null);

export const chainIdOf = (chain: string): number => Number(chain.slice("eip155:".length));

function assetWhere(chain: string, fits: (asset: ChainConfiguration["assets"][number]) => boolean): AssetOnChain | null {
  const found = chainOf(chain)?.assets.find(fits);
  return found ? { ...found, chain, chainId: chainIdOf(chain), tokenAddress: lower(found.tokenAddress) } : null;
}

export const assetOf = (chain: string, asset: string): AssetOnChain | null => assetWhere(chain, (entry) => entry.asset === asset);

/** Of a token, or of a unit that moves on no chain; null for a token that is not configured. */
export const configuredDecimals = (chain: string, asset: string): number | null =>
  isUnitChain(chain) ? UNIT_DECIMALS : (assetOf(chain, asset)?.tokenDecimals ?? null);

export const tokenOf = (chain: string, asset: string): string | null => assetOf(chain, asset)?.tokenAddress ?? null;

export const assetAt = (chain: string, tokenAddress: string): AssetOnChain | null =>
  assetWhere(chain, (entry) => lower(entry.tokenAddress) === lower(tokenAddress));
