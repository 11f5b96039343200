import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { lower } from "#lib/evm.ts";
import type { IntentFacts } from "#lib/mandates/policy/facts.ts";
import type { Atomic } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import type { AskedIntent } from "#lib/payment-intent.ts";
import { compareChallenge, readChallenge, type Mismatch } from "#lib/x402/compare-challenge.ts";

const URL_MAX = 1_024;

/** The challenge in an intent and the URL that it names. */
export type Offer = {
  readonly required: PaymentRequired;
  readonly url: string;
  /** The domain of the URL, written as registered domains are; null if the host cannot be a registered domain. */
  readonly domain: string | null;
};

/** Null without a challenge that has a usable URL. `domainOf` returns null for a host that cannot be a seller's domain. */
export function readOffer(challenge: unknown, domainOf: (host: string) => string | null): Offer | null {
  const required = readChallenge(challenge);
  const text = required?.resource?.url ?? "";
  if (!required || !URL.canParse(text)) return null;
  const url = new URL(text);
  url.hash = "";
  const readable = (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
  if (!readable || url.href.length > URL_MAX) return null;
  // A host with its port is a valid domain only for a loopback host; for other hosts the port does not identify a seller.
  return { required, url: url.href, domain: domainOf(url.host) ?? domainOf(url.hostname) };
}

export const namedSeller = ({ seller, resource }: AskedIntent): string | null => seller.sellerId ?? resource?.sellerId ?? null;

/** A seller's id has no space, so this text is never a seller's id. Null if the domain or the address is not known. */
export const unregisteredPayee = (domain: string | null | undefined, payTo: string | null | undefined): string | null =>
  domain && payTo ? `${domain} ${payTo.toLowerCase()}` : null;

export type OfferJudgement = {
  readonly facts: NonNullable<IntentFacts["unregistered"]>;
  readonly mismatches: IntentFacts["mismatches"];
  /** The offer in the challenge with the fewest differences from the intent; null if nothing could be compared. */
  readonly accepted: PaymentRequirements | null;
  readonly maxTimeoutSeconds: number | null;
};

function lacksOf(intent: AskedIntent, offer: Offer | null): OfferJudgement["facts"]["lacks"] {
  const checks: readonly (readonly [has: boolean, pointer: string, detail: string])[] = [
    [intent.chain !== undefined, "/intent/chain", "A payment to a seller that is not registered names its chain."],
    [intent.payTo !== undefined, "/intent/payTo", "A payment to a seller that is not registered names its payTo."],
    [offer !== null, "/intent/challenge", "Send the seller's x402 version 2 PaymentRequired as the challenge."],
    [
      offer === null || offer.domain !== null,
      "/intent/challenge/resource/url",
      "The challenge names no public domain, so nobody can say who is paid.",
    ],
  ];
  return checks.filter(([has]) => !has).map(([, pointer, detail]) => ({ pointer, detail }));
}

const inIntent = (mismatches: readonly Mismatch[]): { field: string; pointer: string }[] =>
  mismatches.map(({ field, pointer }) => ({ field, pointer: `/intent/challenge${pointer}` }));

/** Compares an intent with its challenge. The challenge comes from the agent, so a match proves nothing about the seller. */
export function judgeOffer(intent: AskedIntent, offer: Offer | null, amount: Atomic, asset: AssetOnChain): OfferJudgement {
  const lacks = lacksOf(intent, offer);
  const facts = { domain: offer?.domain ?? null, lacks };
  if (!offer || intent.payTo === undefined || lacks.length > 0)
    return { facts, mismatches: [], accepted: null, maxTimeoutSeconds: null };
  const { accepted, terms, mismatches } = compareOffer(offer, amount, asset, intent.payTo);
  const found = inIntent(mismatches);
  const { pricing } = intent.resource ?? {};
  const names = [undefined, offer.domain, new URL(offer.url).host];
  if (!names.includes(intent.seller.domain)) found.push({ field: "domain", pointer: "/intent/seller/domain" });
  if (pricing !== undefined && pricing.asset !== intent.asset)
    found.push({ field: "pricing.asset", pointer: "/intent/resource/pricing/asset" });
  return { facts, mismatches: found, accepted, maxTimeoutSeconds: terms?.maxTimeoutSeconds ?? null };
}

/** The intent must pay the amount in its 402 to the registered payee, and the 402 must be for the seller's domain. */
export function compareQuoted(offer: Offer | null, amount: Atomic, asset: AssetOnChain, domain: string, payTo: string) {
  if (!offer) return [{ field: "challenge", pointer: "/intent/challenge" }];
  const found = inIntent(compareOffer(offer, amount, asset, payTo).mismatches);
  return offer.domain === domain ? found : [...found, { field: "domain", pointer: "/intent/challenge/resource/url" }];
}

const compareOffer = ({ required, url }: Pick<Offer, "required" | "url">, amount: Atomic, asset: AssetOnChain, payTo: string) =>
  compareChallenge(required, { asset, amount, payTo: lower(payTo), url });

/** The offer that was authorized, from the challenge in the intent. Null if none matches. */
export function acceptedOffer(
  challenge: unknown,
  { asset, amount, payTo }: { readonly asset: AssetOnChain; readonly amount: bigint; readonly payTo: string },
): { readonly required: PaymentRequired; readonly accepted: PaymentRequirements } | null {
  const required = readChallenge(challenge);
  if (!required) return null;
  const { accepted, mismatches } = compareOffer({ required, url: required.resource?.url ?? "" }, amount as Atomic, asset, payTo);
  return accepted && mismatches.length === 0 ? { required, accepted } : null;
}
