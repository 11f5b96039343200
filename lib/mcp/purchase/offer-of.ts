import type { PaymentRequired } from "@x402/core/types";
import { assetOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { lower } from "#lib/evm.ts";
import { formatAmount } from "#lib/money.ts";
import type { SellerReply } from "#lib/mcp/purchase/paid-client.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";
import { challengeOf } from "#lib/x402/challenge-header.ts";
import { exactOffers } from "#lib/x402/compare-challenge.ts";

export type SellerOffer = {
  readonly challenge: PaymentRequired;
  readonly asset: AssetOnChain;
  readonly payTo: `0x${string}`;
  /** Decimal text. */
  readonly amount: string;
};

type Coin = { readonly asset: string; readonly chain: string };

/** The first `exact` offer in the mandate's token. @throws Problem storefront_invalid, also if the 402 is for another host */
export function offerOf(reply: SellerReply, url: string, coin: Coin): SellerOffer {
  const { host } = new URL(url);
  const challenge = challengeOf({ headers: reply.headers, url });
  const claimed = challenge.resource?.url ?? "";
  if (!URL.canParse(claimed) || new URL(claimed).host !== host)
    throw storefrontInvalid(`The 402 of ${host} is for another host.`);
  const asset = assetOf(coin.chain, coin.asset);
  const offer = exactOffers(challenge).find(
    (one) => one.network === coin.chain && asset !== null && lower(one.asset) === asset.tokenAddress,
  );
  if (!asset || !offer)
    throw storefrontInvalid(
      `${host} offers no payment in ${coin.asset} on ${coin.chain} by the x402 scheme exact, which the mandate pays in.`,
    );
  return { challenge, asset, payTo: lower(offer.payTo), amount: formatAmount(BigInt(offer.amount), asset.tokenDecimals) };
}
