import { assetOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { env } from "#lib/env.ts";

/**
 * The asset that pays for the samples: the first asset of the first chain. Null in production, and if this installation has no
 * test wallet or no asset.
 */
export function sampleAsset(): AssetOnChain | null {
  const { ENVIRONMENT, SANDBOX_WALLET_PRIVATE_KEY, CHAINS } = env();
  const [chain] = CHAINS;
  const [asset] = chain?.assets ?? [];
  if (ENVIRONMENT !== "sandbox" || SANDBOX_WALLET_PRIVATE_KEY === undefined || !chain || !asset) return null;
  return assetOf(chain.chain, asset.asset);
}
