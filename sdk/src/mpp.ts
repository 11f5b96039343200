import { isPayable, noOffer, type Challenge, type Offer, type Token } from "./challenge.ts";
import { CountersignError } from "./errors.ts";
import type { Wallet } from "./sign.ts";

/*
 * Payments by the Machine Payments Protocol (MPP): its method `evm` with the intent `charge`, paid by an EIP-3009 authorization
 * as in x402's scheme `exact`. The nonce is a hash of the challenge's id and realm.
 */

type Json = Readonly<Record<string, unknown>>;

/** MPP's challenge for one payment. The credential contains it unchanged, also with members that this code does not know. */
export type MppChallenge = Json & {
  readonly id: string;
  readonly realm: string;
  readonly expires?: string;
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

const isCharge = ({ method, intent, id, realm, request }: Json): boolean => {
  const { methodDetails } = (request ?? {}) as Partial<MppChallenge["request"]>;
  const { credentialTypes, splits, chainId } = methodDetails ?? {};
  const isKnown = method === "evm" && intent === "charge" && typeof id === "string" && typeof realm === "string";
  const hasTypes = Array.isArray(credentialTypes) && credentialTypes.includes("authorization");
  return isKnown && hasTypes && Number.isSafeInteger(chainId) && (!Array.isArray(splits) || splits.length === 0);
};

/** The challenges in MPP's answer for MCP. Null if the answer contains none. */
export const mppChallenges = (data: unknown): readonly Json[] | null => {
  const { challenges } = (data ?? {}) as { readonly challenges?: unknown };
  return Array.isArray(challenges) && challenges.length > 0 ? (challenges as readonly Json[]) : null;
};

const secondsLeft = ({ expires }: MppChallenge): number =>
  expires === undefined ? LIFE_SECONDS : Math.floor((Date.parse(expires) - Date.now()) / 1_000);

/**
 * The first charge in the mandate's token, as an x402 offer with MPP's challenge beside it. The service decides about it like
 * about any x402 payment.
 * @throws ChallengeRefused
 */
export function challengeOfMpp(challenges: readonly Json[], url: string, token: Token): Challenge {
  const offers = challenges.filter(isCharge).map((one): readonly [Offer, MppChallenge] => {
    const mpp = one as MppChallenge;
    const { amount, currency, recipient, methodDetails } = mpp.request;
    const { tokenName: name, tokenVersion: version } = token;
    const terms = { amount, asset: currency, payTo: recipient, network: `eip155:${methodDetails.chainId}` };
    return [{ scheme: "exact", ...terms, maxTimeoutSeconds: Math.max(secondsLeft(mpp), 1), extra: { name, version } }, mpp];
  });
  const [offer, mpp] = offers.find(([one]) => isPayable(one, token)) ?? [];
  if (!offer || !mpp) throw noOffer(token);
  return {
    required: { x402Version: 2, resource: { url }, accepts: [offer], extensions: { [EXTENSION]: { challenge: mpp } } },
    offer,
    mpp,
  };
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

/** Signs MPP's charge, and returns it as an x402 credential, which the service verifies. */
export async function signMpp(wallet: Wallet, { required, offer }: Challenge, mpp: MppChallenge): Promise<string> {
  const { getAddress, keccak256, stringToBytes } = await loadViem();
  const validBefore = String(Math.floor(Date.now() / 1_000) + secondsLeft(mpp));
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
  return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(credential))));
}

type Signed = {
  readonly payload: { readonly signature: string; readonly authorization: { readonly from: string } };
  readonly extensions?: { readonly [EXTENSION]?: { readonly challenge?: MppChallenge } };
};

/**
 * Makes MPP's credential from the x402 credential that the service stores. A repeat gets the challenge of the first call, because
 * the signed nonce is a hash of that challenge's id and realm.
 */
export function mppCredential(credential: Json): Json {
  const { payload, extensions } = credential as unknown as Signed;
  const challenge = extensions?.[EXTENSION]?.challenge;
  if (!challenge) throw new CountersignError("This operation was paid by x402 before. Use another name for the operation.");
  const { signature, authorization } = payload;
  const source = `did:pkh:eip155:${challenge.request.methodDetails.chainId}:${authorization.from}`;
  return { challenge, source, payload: { type: "authorization", ...authorization, signature } };
}
