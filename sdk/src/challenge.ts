import { ChallengeRefused } from "./errors.ts";
import type { MppChallenge } from "./mpp.ts";
import type { Remaining } from "./operations.ts";

/** One way to pay, in the form of x402 version 2. */
export type Offer = {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra?: Readonly<Record<string, unknown>>;
};

/**
 * The payment that a seller asks for. `version1` is the seller's original offer if the seller uses x402 version 1; `mpp` is the
 * challenge if the seller uses the Machine Payments Protocol (MPP).
 */
export type Challenge = {
  readonly required: {
    readonly x402Version: 2;
    readonly resource: { readonly url: string };
    readonly accepts: readonly Offer[];
    readonly extensions?: Readonly<Record<string, unknown>>;
  };
  readonly offer: Offer;
  readonly version1?: Readonly<Record<string, unknown>>;
  readonly mpp?: MppChallenge;
};

type Json = Readonly<Record<string, unknown>>;
export type Token = NonNullable<Remaining["asset"]>;

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
export const offersIn = (json: Json): readonly Json[] => (Array.isArray(json["accepts"]) ? json["accepts"].filter(isObject) : []);

/** The JSON in the base64 value of an x402 header. Null if it cannot be read. */
export function decode(header: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (char) => char.charCodeAt(0))));
  } catch {
    return null;
  }
}

async function networksOfVersion1(): Promise<Readonly<Record<string, number>>> {
  const { EVM_NETWORK_CHAIN_ID_MAP } = await import("@x402/evm/v1");
  return EVM_NETWORK_CHAIN_ID_MAP;
}

async function fromVersion1(json: Json, url: string): Promise<readonly (readonly [Offer, Json])[]> {
  const networks = await networksOfVersion1();
  return offersIn(json).map((offer) => {
    const name = typeof offer["network"] === "string" ? offer["network"] : "";
    const chainId = networks[name];
    const { maxAmountRequired, resource: _, description: __, mimeType: ___, outputSchema: ____, ...rest } = offer;
    const network = chainId === undefined ? name : `eip155:${chainId}`;
    return [{ ...rest, network, amount: maxAmountRequired } as Offer, { ...offer, resource: offer["resource"] ?? url }];
  });
}

/** The tokens that a mandate pays in. */
export const tokensOf = ({ asset, assets = [] }: Pick<Remaining, "asset" | "assets">): readonly Token[] =>
  asset ? [asset] : assets.filter((one): one is Token & typeof one => one.tokenAddress !== undefined);

export const tokenIn = (tokens: readonly Token[], network: unknown, address: unknown): Token | undefined =>
  tokens.find(
    ({ chain, tokenAddress }) =>
      network === chain && typeof address === "string" && address.toLowerCase() === tokenAddress.toLowerCase(),
  );

/** Whether an offer can be paid in one of the tokens, by x402's scheme `exact` with an EIP-3009 authorization. */
export const isPayable = (offer: Offer, tokens: readonly Token[]): boolean =>
  offer.scheme === "exact" &&
  tokenIn(tokens, offer.network, offer.asset) !== undefined &&
  typeof offer.payTo === "string" &&
  typeof offer.amount === "string" &&
  /^[1-9]\d{0,77}$/.test(offer.amount) &&
  Number.isSafeInteger(offer.maxTimeoutSeconds) &&
  offer.maxTimeoutSeconds > 0 &&
  (offer.extra?.["assetTransferMethod"] ?? "eip3009") === "eip3009";

export const noOffer = (tokens: readonly Token[]): ChallengeRefused =>
  new ChallengeRefused(
    `The seller does not accept the payment that the mandate allows: ${tokens.map(({ asset, chain }) => `${asset} on ${chain}`).join(" or ")}, by a signed transfer of that amount within whole seconds.`,
  );

/**
 * Refuses a 402 for no domain, or for another one than that of `asked`, because the mandate's policy is checked for the domain in
 * the 402.
 */
function requireSameHost(claimed: unknown, asked: string): void {
  const { hostname } = new URL(asked);
  const url = typeof claimed === "string" ? claimed : "";
  if (URL.canParse(url) && new URL(url).hostname === hostname) return;
  throw new ChallengeRefused(`The 402 of ${hostname} is for ${url === "" ? "no address" : url}.`);
}

/**
 * Reads x402's PaymentRequired of version 1 or 2, and picks the first offer that can be paid in a token of the mandate.
 * @throws ChallengeRefused
 */
export async function challengeFrom(json: unknown, askedUrl: string, tokens: readonly Token[]): Promise<Challenge> {
  if (isObject(json) && json["x402Version"] === 2 && isObject(json["resource"])) {
    requireSameHost(json["resource"]["url"], askedUrl);
    const offer = (offersIn(json) as unknown as Offer[]).find((one) => isPayable(one, tokens));
    if (!offer) throw noOffer(tokens);
    return { required: json as unknown as Challenge["required"], offer };
  }
  if (isObject(json) && json["x402Version"] === 1) {
    const offers = await fromVersion1(json, askedUrl);
    const [offer, version1] = offers.find(([one]) => isPayable(one, tokens)) ?? [];
    if (!offer || !version1) throw noOffer(tokens);
    const { resource } = version1;
    requireSameHost(resource, askedUrl);
    return { required: { x402Version: 2, resource: { url: resource as string }, accepts: [offer] }, offer, version1 };
  }
  throw new ChallengeRefused("The seller asks for payment, but not by x402 version 1 or 2, nor by MPP's charge on an EVM chain.");
}

/** The token of an offer, and the amount as a decimal number of tokens, such as "0.25". @throws ChallengeRefused */
export function priceOf({ network, asset, amount }: Offer, tokens: readonly Token[]) {
  const token = tokenIn(tokens, network, asset);
  if (!token) throw noOffer(tokens);
  return { amount: decimalText(amount, token.tokenDecimals), asset: token.asset, chain: token.chain };
}

function decimalText(amount: string, tokenDecimals: number): string {
  const digits = amount.padStart(tokenDecimals + 1, "0");
  const point = digits.length - tokenDecimals;
  const fraction = digits.slice(point).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`;
}
