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

type Offer = ReturnType<typeof exactOffers>[number];
type Coin = { readonly asset: string; readonly chain: string };

/** The first `exact` offer in one of the mandate's tokens. @throws Problem storefront_invalid, also if the 402 is for another host */
export function offerOf(reply: SellerReply, url: string, coins: readonly Coin[]): SellerOffer {
  const { host } = new URL(url);
  const challenge = challengeOf({ headers: reply.headers, url });
  const claimed = challenge.resource?.url ?? "";
  if (!URL.canParse(claimed) || new URL(claimed).host !== host)
    throw storefrontInvalid(`The 402 of ${host} is for another host.`);
  const tokens = coins.flatMap(({ chain, asset }) => assetOf(chain, asset) ?? []);
  const tokenIn = ({ network, asset }: Pick<Offer, "network" | "asset">) =>
    tokens.find(({ chain, tokenAddress }) => network === chain && lower(asset) === tokenAddress);
  const offer = exactOffers(challenge).find((one) => tokenIn(one) !== undefined);
  const asset = offer && tokenIn(offer);
  if (!asset || !offer) {
    const named = coins.map((coin) => `${coin.asset} on ${coin.chain}`).join(" or ");
    throw storefrontInvalid(`${host} offers no payment in ${named} by the x402 scheme exact, which the mandate pays in.`);
  }
  return { challenge, asset, payTo: lower(offer.payTo), amount: formatAmount(BigInt(offer.amount), asset.tokenDecimals) };
}
