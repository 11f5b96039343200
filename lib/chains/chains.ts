import { env, type ChainConfiguration } from "#lib/env.ts";

/** An asset as the installation's configuration has it. Addresses are in lower case; what clients name is only compared. */
export type AssetOnChain = {
  readonly chain: string;
  readonly chainId: number;
  readonly asset: string;
  readonly tokenAddress: `0x${string}`;
  readonly tokenName: string;
  readonly tokenVersion: string;
  readonly tokenDecimals: number;
};

/** The configured chain with this CAIP-2 name. */
export const chainOf = (chain: string): ChainConfiguration | null => env().CHAINS.find((entry) => entry.chain === chain) ?? null;

/** The installation's only chain: what a request means that names none. */
export const onlyChain = (): string | null => (env().CHAINS.length === 1 ? (env().CHAINS[0]?.chain ?? null) : null);

export const chainIdOf = (chain: string): number => Number(chain.slice("eip155:".length));

export const address = (text: string): `0x${string}` => text.toLowerCase() as `0x${string}`;

function assetWhere(chain: string, fits: (asset: ChainConfiguration["assets"][number]) => boolean): AssetOnChain | null {
  const found = chainOf(chain)?.assets.find(fits);
  return found ? { ...found, chain, chainId: chainIdOf(chain), tokenAddress: address(found.tokenAddress) } : null;
}

/** The token behind a symbol. */
export const assetOf = (chain: string, asset: string): AssetOnChain | null => assetWhere(chain, (entry) => entry.asset === asset);

/** Where a symbol's token lives, in lower case. */
export const tokenOf = (chain: string, asset: string): string | null => assetOf(chain, asset)?.tokenAddress ?? null;

/** The configured asset that lives at a token address. */
export const assetAt = (chain: string, tokenAddress: string): AssetOnChain | null =>
  assetWhere(chain, (entry) => address(entry.tokenAddress) === address(tokenAddress));
