import type { PaymentRequirements } from "@x402/core/types";
import type { Hex } from "viem";
import { canonicalJson } from "#lib/canonical-json.ts";
import type { Credential } from "#lib/x402/credential.ts";
import { equalOffers } from "#lib/x402/compare-challenge.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";

export type Verdict = { readonly ok: true } | ({ readonly ok: false } & Failure);

const ok: Verdict = { ok: true };

/** How long a signed payment must still be valid if its transfer is sent at once. The x402 library requires the same. */
export const SENT_NOW_SECONDS = 6;
/** How long a signed payment must still be valid if executePayment submits it, which may have to be repeated. */
export const SENT_LATER_SECONDS = 30;

export function compareCredential(credential: Credential, expected: ExpectedPayment, now: Date, secondsLeft: number): Verdict {
  const { asset } = expected;
  const { accepted } = credential;
  if (credential.chain !== asset.chain)
    return failed("network_mismatch", `The credential is for ${credential.chain}, the payment is on ${asset.chain}.`);
  if (credential.token !== asset.tokenAddress)
    return failed("asset_mismatch", `The credential is for another token than ${asset.asset}.`);
  if (accepted.name !== asset.tokenName || accepted.version !== asset.tokenVersion)
    return failed("token_domain_mismatch", "The credential names another EIP-712 domain than the token's.");
  if (credential.payTo !== expected.payTo || accepted.payTo !== expected.payTo)
    return failed("recipient_mismatch", "The credential pays another address than the authorized one.");
  if (credential.value !== expected.amount || accepted.amount !== expected.amount.toString())
    return failed("amount_mismatch", "The credential pays another amount than the authorized one.");
  if (expected.offer && !acceptsOffer(credential, expected.offer))
    return failed("credential_malformed", "The credential is for another offer than the seller's one that was authorized.");
  return withinLife(credential, now, secondsLeft);
}

/**
 * Compares timeout, extra and resource as a seller's server does; compareCredential compares the other fields. If the 402 offers
 * the authorized payment more than once, the client chooses.
 */
function acceptsOffer({ payload }: Credential, offer: NonNullable<ExpectedPayment["offer"]>): boolean {
  const said = payload.accepted;
  const url = payload.resource?.url;
  const takes = ({ maxTimeoutSeconds, extra }: PaymentRequirements): boolean =>
    said.maxTimeoutSeconds === maxTimeoutSeconds &&
    Object.entries(extra ?? {}).every(
      ([name, value]) => canonicalJson({ value: said.extra?.[name] }) === canonicalJson({ value }),
    );
  return equalOffers(offer).some(takes) && (url === undefined || url === offer.required.resource?.url);
}

function withinLife({ validAfter, validBefore }: Credential, now: Date, secondsLeft: number): Verdict {
  const seconds = BigInt(Math.floor(now.getTime() / 1000));
  if (validBefore < seconds + BigInt(secondsLeft))
    return failed("credential_expired", `The credential has expired or does so within ${secondsLeft} seconds. Sign a new one.`);
  if (validAfter > seconds) return failed("credential_not_yet_valid", "The credential is not valid yet.");
  return ok;
}

/** If the mandate names a wallet, no other wallet may pay. `payer` must be in lower case. */
export const compareSigner = (payer: string, wallet: string | null): Verdict =>
  wallet === null || wallet.toLowerCase() === payer
    ? ok
    : failed("signer_mismatch", "The mandate pays from another wallet than the one that signed.");

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** A plain account's only canonical form: 65 bytes, low s, v 27 or 28. Other forms could give one payment two signatures. */
export function isCanonicalSignature(signature: Hex): boolean {
  if (signature.length !== 132) return false;
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = Number.parseInt(signature.slice(130), 16);
  return s > 0n && s <= HALF_ORDER && (v === 27 || v === 28);
}

export type ChainFacts = {
  readonly signatureValid: boolean;
  readonly nonceUsed: boolean;
  readonly balance: bigint;
};

export function judgeChainFacts(facts: ChainFacts, expected: ExpectedPayment): Verdict {
  if (!facts.signatureValid) return failed("signature_invalid", "The credential's signature is not the payer's.");
  if (facts.nonceUsed) return failed("nonce_already_used", "The credential was already settled or cancelled on the chain.");
  if (facts.balance < expected.amount)
    return failed("insufficient_funds", "The paying wallet does not hold enough of the token.", {
      balanceAtomic: facts.balance.toString(),
    });
  return ok;
}
