import { decode, isObject, isPayable, noOffer, offersIn, tokenIn, type Challenge, type Offer, type Token } from "./challenge.ts";
import { ChallengeRefused, CountersignError } from "./errors.ts";
import type { Wallet } from "./sign.ts";

/*
 * Payments by the Machine Payments Protocol (MPP): its method `evm` with the intent `charge`, paid by an EIP-3009 authorization
 * as in x402's scheme `exact`. The nonce is a hash of the challenge's id and realm. Over HTTP the challenge's request is JSON in
 * base64url, over MCP it is JSON. The credential contains the challenge as it arrived.
 */

type Json = Readonly<Record<string, unknown>>;

/** MPP's challenge for one payment. */
export type MppChallenge = Json & {
  readonly id: string;
  readonly realm: string;
  readonly expires?: unknown;
  readonly request: {
    readonly amount: string;
    readonly currency: `0x${string}`;
    readonly recipient: `0x${string}`;
    readonly methodDetails: { readonly chainId: number; readonly credentialTypes?: unknown; readonly splits?: unknown };
  };
};

/** The name of the x402 extension that contains MPP's challenge beside the offer. */
const EXTENSION = "org.paymentauth";
const LIFE_SECONDS = 300;
/** A challenge may be payable for longer, but the buyer's budget is reserved while the signed payment is valid. */
const SIGNED_SECONDS = 86_400;

const fromBase64url = (text: string): unknown => decode(text.replaceAll("-", "+").replaceAll("_", "/"));
const read = (one: Json): Json => (typeof one["request"] === "string" ? { ...one, request: fromBase64url(one["request"]) } : one);

const isCharge = (one: Json): boolean => {
  const { method, intent, id, realm, request, header = "Authorization" } = read(one);
  const { methodDetails } = (request ?? {}) as Partial<MppChallenge["request"]>;
  const { credentialTypes, splits, chainId } = methodDetails ?? {};
  const isKnown = method === "evm" && intent === "charge" && typeof id === "string" && typeof realm === "string";
  const hasTypes = Array.isArray(credentialTypes) && credentialTypes.includes("authorization");
  const isShown = typeof header === "string" && /^(payment-)?authorization$/i.test(header);
  return isKnown && isShown && hasTypes && Number.isSafeInteger(chainId) && (!Array.isArray(splits) || splits.length === 0);
};

const SCHEME = /[\s,]*([\w!#$%&'*+.^`|~-]+)[ \t]+(?=[\w!#$%&'*+.^`|~-]+[ \t]*=)/y;
const PARAMETER = /[\s,]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=]+))/y;
/** Anything else, such as a scheme without parameters. */
const OTHER = /[\s,]*[^\s,]*/y;

/** mppx writes characters that HTTP does not allow in a header as \uXXXX. */
const unescape = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code?: string, char = "") =>
    code === undefined ? char : String.fromCharCode(Number.parseInt(code, 16)),
  );

/** The charges in a WWW-Authenticate header. Other schemes, and challenges with a parameter twice, are left out. */
export function chargesIn(header: string): readonly Json[] {
  const found: { readonly scheme: string; readonly parameters: [name: string, value: string][] }[] = [];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    at = match ? pattern.lastIndex : at;
    return match;
  };
  while (at < header.length) {
    const [, scheme] = next(SCHEME) ?? [];
    if (scheme !== undefined) found.push({ scheme: scheme.toLowerCase(), parameters: [] });
    const [, name, quoted, token = ""] = next(PARAMETER) ?? [];
    if (name === undefined) next(OTHER);
    else found.at(-1)?.parameters.push([name.toLowerCase(), quoted === undefined ? token : unescape(quoted)]);
  }
  return found.flatMap(({ scheme, parameters }) => {
    const challenge = Object.fromEntries(parameters);
    const isOnce = Object.keys(challenge).length === parameters.length;
    return scheme === "payment" && isOnce && isCharge(challenge) ? [challenge] : [];
  });
}

/** The challenges in MPP's answer for MCP. Null if the answer contains none. */
export const mppChallenges = (data: unknown): readonly Json[] | null => {
  const { challenges } = (data ?? {}) as { readonly challenges?: unknown };
  const found = Array.isArray(challenges) ? challenges.filter(isObject) : [];
  return found.length > 0 ? found : null;
};

/** NaN if the time cannot be read. */
function secondsLeft({ expires }: MppChallenge): number {
  if (expires === undefined) return LIFE_SECONDS;
  return typeof expires === "string" ? Math.floor((Date.parse(expires) - Date.now()) / 1_000) : Number.NaN;
}

export const isExpired = (mpp: MppChallenge): boolean => secondsLeft(mpp) < 1;

export const challengeExpired = (): ChallengeRefused =>
  new ChallengeRefused("The seller's challenge has expired, by the clock of this machine.", {
    nextActions: [{ type: "retry_later", label: "Call again with the same operation, for a new challenge" }],
  });

/**
 * The first charge in a token of the mandate, if possible one that has not expired, as an x402 offer with MPP's challenge beside it.
 * The service decides about it like about any x402 payment.
 * @throws ChallengeRefused
 */
export function challengeOfMpp(challenges: readonly Json[], url: string, tokens: readonly Token[]): Challenge {
  const offers = challenges.filter(isCharge).map((one): readonly [Offer, MppChallenge, Json] => {
    const mpp = read(one) as MppChallenge;
    const { amount, currency, recipient, methodDetails } = mpp.request;
    const network = `eip155:${methodDetails.chainId}`;
    const { tokenName: name, tokenVersion: version } = tokenIn(tokens, network, currency) ?? {};
    const terms = { amount, asset: currency, payTo: recipient, network };
    return [{ scheme: "exact", ...terms, maxTimeoutSeconds: Math.max(secondsLeft(mpp), 1), extra: { name, version } }, mpp, one];
  });
  const payable = offers.filter(([one]) => isPayable(one, tokens));
  const [offer, mpp, challenge] = payable.find(([, one]) => !isExpired(one)) ?? payable[0] ?? [];
  if (!offer || !mpp) throw noOffer(tokens);
  return {
    required: { x402Version: 2, resource: { url }, accepts: [offer], extensions: { [EXTENSION]: { challenge } } },
    offer,
    mpp,
  };
}

/**
 * The challenge with the timeout of the offer that was authorized, because the service accepts no other offer. A repeated call
 * has less time left or a new challenge, and the signed payment ends with that one.
 */
export function withTimeout(challenge: Challenge, authorized: Json = {}): Challenge {
  const { network, amount, asset, payTo } = challenge.offer;
  const terms = { network, amount, asset, payTo };
  const stored = offersIn(authorized).find((one) => Object.entries(terms).every(([name, value]) => one[name] === value));
  const maxTimeoutSeconds = stored?.["maxTimeoutSeconds"];
  if (!challenge.mpp || typeof maxTimeoutSeconds !== "number") return challenge;
  return { ...challenge, offer: { ...challenge.offer, maxTimeoutSeconds } };
}

/** What a wallet signs for EIP-3009. The order of the fields is part of the hash. */
const types = {
  TransferWithAuthorization: ["from", "to", "value", "validAfter", "validBefore", "nonce"].map((name) => ({
    name,
    type: name === "nonce" ? "bytes32" : name === "from" || name === "to" ? "address" : "uint256",
  })),
};

async function loadViem() {
  try {
    return await import("viem");
  } catch (cause) {
    throw new CountersignError("A payment by MPP needs another package: npm install viem", { cause });
  }
}

/** Signs MPP's charge, and returns it as an x402 credential, which the service verifies. @throws ChallengeRefused if it expired */
export async function signMpp(wallet: Wallet, { required, offer }: Challenge, mpp: MppChallenge): Promise<string> {
  const { getAddress, keccak256, stringToBytes } = await loadViem();
  if (isExpired(mpp)) throw challengeExpired();
  const validBefore = String(Math.floor(Date.now() / 1_000) + Math.min(secondsLeft(mpp), SIGNED_SECONDS));
  const authorization = {
    from: getAddress(wallet.address),
    to: getAddress(offer.payTo),
    value: offer.amount,
    validAfter: "0",
    validBefore,
    nonce: keccak256(stringToBytes(`${mpp.id}${mpp.realm}`)),
  };
  const { name, version } = offer.extra as { readonly name: string; readonly version: string };
  const { chainId } = mpp.request.methodDetails;
  const signature = await wallet.signTypedData({
    domain: { name, version, chainId, verifyingContract: getAddress(offer.asset) },
    types,
    primaryType: "TransferWithAuthorization",
    message: { ...authorization, value: BigInt(offer.amount), validAfter: 0n, validBefore: BigInt(validBefore) },
  });
  const { resource, extensions } = required;
  const credential = { x402Version: 2, resource, accepted: offer, payload: { signature, authorization }, extensions };
  return encode(credential);
}

const encode = (json: Json): string => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(json))));

type Signed = {
  readonly accepted: Offer;
  readonly payload: { readonly signature: string; readonly authorization: { readonly from: string } };
  readonly extensions?: { readonly [EXTENSION]?: { readonly challenge?: Json } };
};

/**
 * Makes MPP's credential from the x402 credential that the service stores. A repeat gets the challenge of the first call, because
 * the signed nonce is a hash of that challenge's id and realm.
 */
export function mppCredential(credential: unknown): Json & { readonly challenge: Json } {
  const { accepted, payload, extensions } = (credential ?? {}) as Signed;
  const challenge = extensions?.[EXTENSION]?.challenge;
  if (!challenge) throw new CountersignError("This operation was paid by x402 before. Use another name for the operation.");
  const { signature, authorization } = payload;
  const source = `did:pkh:${accepted.network}:${authorization.from}`;
  return { challenge, source, payload: { type: "authorization", ...authorization, signature } };
}

/** The header of a request by HTTP, which the challenge may name. */
export function mppHeaders(credential: unknown): Readonly<Record<string, string>> {
  const shown = mppCredential(credential);
  const { header = "Authorization" } = shown.challenge;
  const text = encode(shown).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return { [String(header)]: `Payment ${text}` };
}
