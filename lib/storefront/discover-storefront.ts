import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import type { Address } from "viem";
import { env } from "#lib/env.ts";
import { assetAt, assetOf, chainOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { lower } from "#lib/evm.ts";
import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";
import { challengeOf } from "#lib/x402/challenge-header.ts";
import { compareTerms, exactOffers, termsOf, type ChallengeTerms } from "#lib/x402/compare-challenge.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { compareToken, readManifest, type Manifest } from "#lib/storefront/read-manifest.ts";
import { storefrontInvalid, storefrontUnavailable } from "#lib/outbound/storefront-problem.ts";

/** `accepted` is the first offer of scheme exact over EIP-3009 whose token is configured. */
export type OpenChallenge = {
  readonly required: PaymentRequired;
  readonly accepted: PaymentRequirements;
  readonly terms: ChallengeTerms;
};

/** A seller's server as it describes itself, compared with the host that serves the description and with the configuration. */
export type Storefront = {
  readonly source: "manifest" | "x402";
  readonly storefrontUrl: string;
  /** With its port unless it is the default. The server is believed only about this host. */
  readonly domain: string;
  readonly name: string;
  /** The seller's id as the server claims it; the caller must check it. */
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly catalogUrl: string | null;
  /** Null for a plain x402 API, whose 402 replaces the quote. */
  readonly quoteUrl: string | null;
  readonly checkoutUrl: string;
  readonly checkoutMethod: "GET" | "POST";
  readonly challengeTypes: readonly string[];
  readonly asset: AssetOnChain;
  /** In lower case. */
  readonly payTo: Address;
  readonly facilitatorAddresses: readonly string[];
  /** Untrusted text of the seller. */
  readonly agentInstructions: string | null;
  /** The 402 of a plain x402 API, received during discovery; null if the server has a manifest. */
  readonly challenge: OpenChallenge | null;
};

const MANIFEST = "/.well-known/agent-storefront.json";

const elsewhere = [commonActions.otherSeller];

function requireAsset(chain: string, asset: string): AssetOnChain {
  const found = assetOf(chain, asset);
  if (found) return found;
  if (!chainOf(chain)) {
    throw new Problem("chain_unsupported", {
      detail: `The storefront is paid on ${chain}, where this installation does not pay.`,
      nextActions: elsewhere,
    });
  }
  throw new Problem("asset_unsupported", {
    detail: `The storefront is paid in ${asset}, which this installation does not have.`,
    nextActions: elsewhere,
  });
}

function fromManifest(storefrontUrl: string, served: URL, manifest: Manifest): Storefront {
  const asset = requireAsset(manifest.chain, manifest.asset);
  const { paymentScope } = manifest;
  const errors = compareToken(paymentScope, asset, "/paymentScope");
  if (errors.length > 0) throw storefrontInvalid(`The manifest of ${served.host} describes another token.`, { errors });
  return {
    source: "manifest",
    storefrontUrl,
    domain: served.host,
    name: manifest.name,
    sellerId: manifest.sellerId ?? null,
    resourceId: manifest.resourceId ?? null,
    catalogUrl: manifest.catalogUrl ?? null,
    quoteUrl: manifest.quoteUrl,
    checkoutUrl: manifest.checkoutUrl,
    checkoutMethod: "POST",
    challengeTypes: manifest.supportedPaymentChallengeTypes,
    asset,
    payTo: lower(paymentScope.payTo),
    facilitatorAddresses: paymentScope.facilitatorAddresses ?? [],
    agentInstructions: manifest.agentInstructions ?? null,
    challenge: null,
  };
}

function payable(required: PaymentRequired): { challenge: OpenChallenge; asset: AssetOnChain } | null {
  for (const accepted of exactOffers(required)) {
    const asset = assetAt(accepted.network, accepted.asset);
    if (asset) return { challenge: { required, accepted, terms: termsOf(required, accepted) }, asset };
  }
  return null;
}

async function fromChallenge(storefrontUrl: string): Promise<Storefront> {
  const reply = await guardedFetch(storefrontUrl);
  const { host } = new URL(reply.url);
  if (reply.status >= 500) throw storefrontUnavailable(`${host} answered ${reply.status}.`);
  if (reply.status !== 402)
    throw storefrontInvalid(`${host} has no ${MANIFEST}, and ${new URL(reply.url).pathname} does not ask for payment.`);
  const required = challengeOf(reply);
  const found = payable(required);
  if (!found) {
    throw new Problem("asset_unsupported", {
      detail: `${host} asks for payment in nothing that this installation pays with.`,
      nextActions: elsewhere,
    });
  }
  const { asset, challenge } = found;
  const { terms } = challenge;
  const mismatches = compareTerms(terms, { asset, amount: terms.amount, payTo: terms.payTo, url: reply.url });
  if (mismatches.length > 0) throw storefrontInvalid(`The 402 of ${host} differs from what was asked for.`, { mismatches });
  return {
    source: "x402",
    storefrontUrl,
    domain: host,
    name: host,
    sellerId: null,
    resourceId: null,
    catalogUrl: null,
    quoteUrl: null,
    checkoutUrl: reply.url,
    checkoutMethod: "GET",
    challengeTypes: ["x402"],
    asset,
    payTo: terms.payTo,
    facilitatorAddresses: [],
    agentInstructions: null,
    challenge,
  };
}

/** @throws Problem storefront_unavailable, storefront_invalid, chain_unsupported, asset_unsupported */
export async function discoverStorefront(storefrontUrl: string): Promise<Storefront> {
  if (!URL.canParse(storefrontUrl)) throw storefrontInvalid("This is not an address.");
  const { origin, host } = new URL(storefrontUrl);
  const reply = await guardedFetch(`${origin}${MANIFEST}`, { cached: true });
  // An API that asks for payment at every path answers 402 for the path of the manifest too.
  if ([401, 402, 403, 404, 405, 410].includes(reply.status)) return fromChallenge(storefrontUrl);
  if (reply.status !== 200) throw storefrontUnavailable(`${host} answered ${reply.status} for its manifest.`);
  const served = new URL(reply.url);
  const read = readManifest(reply.json, served, env().ENVIRONMENT);
  if (!read.ok) throw storefrontInvalid(`The manifest of ${served.host} cannot be used.`, { errors: read.errors });
  return fromManifest(storefrontUrl, served, read.manifest);
}
