import { isAddress, zeroAddress } from "viem";
import { formatAmount, readAmount } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import type { FieldError } from "#lib/problem.ts";
import type { PaymentConfig, Pricing, UpsertPaidResource } from "#lib/sellers/resource-schema.ts";

export type Installation = {
  readonly chains: readonly string[];
  readonly assetOf: (chain: string, asset: string) => AssetOnChain | null;
  readonly facilitators: readonly string[];
  /** What is wrong with a price that the service itself has to settle; null if it is large enough. */
  readonly tooSmall: (amount: bigint, asset: AssetOnChain) => string | null;
};

type ResourceTerms = {
  readonly pricing: UpsertPaidResource["pricing"];
  readonly paymentConfig: PaymentConfig | null;
};

export type CheckedResource =
  | { readonly ok: true; readonly terms: ResourceTerms }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

type Refuse = (pointer: string, detail: string) => void;

/** Null if no chain fits. Without paymentConfig, it is the only chain, or else the first one that has the asset. */
function chainFor({ pricing, paymentConfig }: UpsertPaidResource, { chains, assetOf }: Installation, refuse: Refuse) {
  const only = chains.length === 1 ? (chains[0] ?? null) : null;
  if (!paymentConfig) return only ?? chains.find((chain) => assetOf(chain, pricing.asset)) ?? null;
  const chain = paymentConfig.chain ?? only;
  if (chain === null) refuse("/paymentConfig/chain", "This installation has several chains; name one.");
  else if (!chains.includes(chain)) refuse("/paymentConfig/chain", `This installation does not pay on ${chain}.`);
  return chain !== null && chains.includes(chain) ? chain : null;
}

type Least = Installation["tooSmall"] | null;

function checkAmount(text: string, pointer: string, asset: AssetOnChain, least: Least, refuse: Refuse): string {
  const price = readAmount(text, asset.tokenDecimals);
  const small = price.ok ? (least?.(price.amount, asset) ?? null) : null;
  if (!price.ok) refuse(pointer, price.detail);
  else if (price.amount === 0n) refuse(pointer, "A price is above zero.");
  else if (small !== null) refuse(pointer, small);
  return price.ok ? formatAmount(price.amount, asset.tokenDecimals) : text;
}

function checkPrice(pricing: Pricing, asset: AssetOnChain, least: Least, refuse: Refuse): Pricing {
  if (pricing.type === "fixed")
    return { ...pricing, amount: checkAmount(pricing.amount, "/pricing/amount", asset, least, refuse) };
  const { maxAmount } = pricing;
  return maxAmount === undefined
    ? pricing
    : { ...pricing, maxAmount: checkAmount(maxAmount, "/pricing/maxAmount", asset, least, refuse) };
}

function checkPayee(payTo: string, asset: AssetOnChain | null, refuse: Refuse): void {
  const lower = payTo.toLowerCase();
  if (lower === zeroAddress) refuse("/paymentConfig/payTo", "Nobody has the zero address; a payment to it would be lost.");
  else if (lower === asset?.tokenAddress)
    refuse("/paymentConfig/payTo", "This is the token itself; a payment to it would be lost.");
  else if (!isAddress(payTo))
    refuse("/paymentConfig/payTo", "The checksum of this address is wrong; check it for a typing error.");
}

function checkFacilitator(
  config: NonNullable<UpsertPaidResource["paymentConfig"]>,
  known: readonly string[],
  refuse: Refuse,
): void {
  if (config.facilitatorUrl === undefined) return;
  const pointer = "/paymentConfig/facilitatorUrl";
  if (config.settlementMode !== "facilitatorSettled")
    refuse(pointer, "Only facilitatorSettled payments go through a facilitator.");
  else if (!known.includes(config.facilitatorUrl)) refuse(pointer, "This installation does not use this facilitator.");
}

/** Collects errors instead of stopping at the first one. */
export function checkResource(body: UpsertPaidResource, resourceId: string, installation: Installation): CheckedResource {
  const errors: FieldError[] = [];
  const refuse: Refuse = (pointer, detail) => errors.push({ pointer, detail });
  const { pricing, paymentConfig } = body;
  if (body.resourceId !== undefined && body.resourceId !== resourceId) {
    refuse("/resourceId", "The path names another resource.");
  }
  const chain = chainFor(body, installation, refuse);
  const asset = chain === null ? null : installation.assetOf(chain, pricing.asset);
  if (!asset && errors.every(({ pointer }) => pointer !== "/paymentConfig/chain")) {
    refuse("/pricing/asset", "This installation does not know this asset there.");
  }
  const weSettle = paymentConfig?.settlementMode === "facilitatorSettled" && paymentConfig.facilitatorUrl === undefined;
  const priced = asset ? checkPrice(pricing, asset, weSettle ? installation.tooSmall : null, refuse) : pricing;
  if (paymentConfig) {
    checkPayee(paymentConfig.payTo, asset, refuse);
    checkFacilitator(paymentConfig, installation.facilitators, refuse);
  }
  if (errors.length > 0) return { ok: false, errors };
  const config = paymentConfig && chain !== null ? { ...paymentConfig, chain } : null;
  return { ok: true, terms: { pricing: priced, paymentConfig: config && presentConfig(config) } };
}

const presentConfig = ({ facilitatorUrl, ...config }: NonNullable<UpsertPaidResource["paymentConfig"]> & { chain: string }) => ({
  ...config,
  ...(facilitatorUrl !== undefined && { facilitatorUrl }),
});
