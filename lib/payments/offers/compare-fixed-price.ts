import { z } from "zod";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import { displayAmount } from "#lib/money.ts";
import type { Difference } from "#lib/payments/offers/compare-intent.ts";
import { chainOfNetwork } from "#lib/x402/version-1.ts";

/** The payment terms of a registered resource with a fixed price; the amount is in the smallest unit. */
export type RegisteredTerms = { readonly asset: AssetOnChain; readonly amount: bigint; readonly payTo: string };

const OFFERS_MAX = 32;
const SHOWN_MAX = 80;
const AMOUNT = /^(0|[1-9][0-9]{0,77})$/;

const Text = z.string().max(200).catch("");
/** An offer of x402 version 1 or 2. An unreadable text becomes empty, which differs from every registered value. */
const Offer = z
  .object({
    scheme: Text,
    network: Text,
    amount: Text.optional(),
    maxAmountRequired: Text.optional(),
    asset: Text,
    payTo: Text,
    maxTimeoutSeconds: z.unknown(),
    extra: z
      .object({ name: Text.optional(), version: Text.optional(), assetTransferMethod: Text.optional() })
      .nullish()
      .catch(null),
  })
  .catch({ scheme: "", network: "", asset: "", payTo: "", maxTimeoutSeconds: undefined });
type Offer = z.output<typeof Offer>;

const Offers = z.array(Offer).max(OFFERS_MAX).catch([]);

/** Cuts text of a third party and replaces all but printable ASCII, which could hide or imitate other text. */
const shown = (text: string): string => {
  const plain = text.slice(0, SHOWN_MAX).replace(/[^\x20-\x7e]/g, "?");
  return plain === "" ? "nothing that can be read" : plain;
};

const methodOf = ({ extra }: Offer): string => extra?.assetTransferMethod ?? "eip3009";
const kindOf = (offer: Offer): string => `${shown(offer.scheme)} by ${shown(methodOf(offer))}`;

/** Clients cannot sign a fraction of a second. */
const isWhole = (seconds: unknown): boolean => seconds === undefined || (Number.isSafeInteger(seconds) && Number(seconds) > 0);
const shownSeconds = (seconds: unknown): string => shown(typeof seconds === "number" ? String(seconds) : "");

const shownAmount = (text: string, { tokenDecimals, asset }: AssetOnChain): string =>
  AMOUNT.test(text) ? displayAmount(BigInt(text), tokenDecimals, asset) : shown(text);

function compareOffer(offer: Offer, { asset, amount, payTo }: RegisteredTerms, index: number): Difference[] {
  const member = offer.amount === undefined && offer.maxAmountRequired !== undefined ? "maxAmountRequired" : "amount";
  const asked = offer[member] ?? "";
  const { maxTimeoutSeconds: seconds } = offer;
  const { name = asset.tokenName, version = asset.tokenVersion } = offer.extra ?? {};
  const checks: readonly (readonly [same: boolean, field: string, member: string, theirs: string, registered: string])[] = [
    [(chainOfNetwork(offer.network) ?? offer.network) === asset.chain, "chain", "network", shown(offer.network), asset.chain],
    [offer.asset.toLowerCase() === asset.tokenAddress, "asset", "asset", shown(offer.asset), asset.tokenAddress],
    [offer.payTo.toLowerCase() === payTo.toLowerCase(), "payTo", "payTo", shown(offer.payTo), payTo],
    [
      asked === amount.toString(),
      "amount",
      member,
      shownAmount(asked, asset),
      displayAmount(amount, asset.tokenDecimals, asset.asset),
    ],
    [isWhole(seconds), "maxTimeoutSeconds", "maxTimeoutSeconds", shownSeconds(seconds), "a whole number of seconds"],
    [name === asset.tokenName, "tokenName", "extra/name", shown(name), asset.tokenName],
    [version === asset.tokenVersion, "tokenVersion", "extra/version", shown(version), asset.tokenVersion],
  ];
  return checks
    .filter(([same]) => !same)
    .map(([, field, at, theirs, registered]) => ({
      field,
      pointer: `/intent/challenge/accepts/${index}/${at}`,
      theirs,
      registered,
    }));
}

/** Of several exact offers by EIP-3009, the nearest counts. Without `accepts`, there are no differences. */
export function compareFixed(challenge: Readonly<Record<string, unknown>>, registered: RegisteredTerms): readonly Difference[] {
  if (challenge["accepts"] === undefined) return [];
  const offers = Offers.parse(challenge["accepts"]);
  let nearest: readonly Difference[] | null = null;
  for (const [index, offer] of offers.entries()) {
    if (offer.scheme !== "exact" || methodOf(offer) !== "eip3009") continue;
    const found = compareOffer(offer, registered, index);
    if (!nearest || found.length < nearest.length) nearest = found;
  }
  if (nearest) return nearest;
  const theirs = offers.length === 0 ? "nothing that can be read" : offers.map(kindOf).join(", ").slice(0, 200);
  return [{ field: "scheme", pointer: "/intent/challenge/accepts", theirs, registered: "exact by eip3009" }];
}
