import { assetOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { env } from "#lib/env.ts";

/** The first asset of the first chain; null in production, or without a test wallet or an asset. */
export function sampleAsset(): AssetOnChain | null {
  const { ENVIRONMENT, SANDBOX_WALLET_PRIVATE_KEY, CHAINS } = env();
  const [chain] = CHAINS;
  const [asset] = chain?.assets ?? [];
  if (ENVIRONMENT !== "sandbox" || SANDBOX_WALLET_PRIVATE_KEY === undefined || !chain || !asset) return null;
  return assetOf(chain.chain, asset.asset);
}
