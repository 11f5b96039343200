import { log } from "#lib/http/log.ts";
import { address, assetOf, chainOf } from "#lib/onchain/chains.ts";
import { chainFailure, newestBlock } from "#lib/onchain/client.ts";
import { readChainFacts } from "#lib/onchain/token.ts";
import type { AuthorizationRow } from "#lib/payments/execution-store.ts";
import { acceptedOffer } from "#lib/payments/unregistered.ts";
import { Problem } from "#lib/problem.ts";
import { decodeCredential, type Credential } from "#lib/x402/credential.ts";
import type { Failure } from "#lib/x402/failure.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";
import { compareCredential, judgeChainFacts } from "#lib/x402/verify.ts";

export type Verified =
  | { readonly ok: true; readonly credential: Credential; readonly fromBlock: bigint }
  | { readonly ok: false; readonly credential: Credential | null; readonly failure: Failure };

/** What an authorization pays, with the token from our configuration. */
export function expectedPayment(authorization: AuthorizationRow): ExpectedPayment {
  const { chain, asset: symbol, amount, payTo, maxTimeoutSeconds, settlementMode } = authorization;
  const asset = assetOf(chain, symbol);
  if (!asset) throw new Error(`${symbol} on ${chain} is no longer configured.`);
  if (payTo === null) throw new Error("An authorization names no payee.");
  const { challenge } = authorization.intent;
  const offer = settlementMode === "offchainAuthorized" ? acceptedOffer(challenge, { asset, amount, payTo }) : null;
  return { asset, amount, payTo: address(payTo), maxTimeoutSeconds, ...(offer && { offer }) };
}

const chainAway = (): Problem =>
  new Problem("rpc_unavailable", { detail: "The chain does not answer. Nothing was sent; ask again with the same key." });

/** Against the stored payment first, then against the chain. @throws Problem rpc_unavailable */
export async function verifyCredential(header: string, payment: ExpectedPayment, now: Date): Promise<Verified> {
  const decoded = decodeCredential(header);
  if (!decoded.ok) return { ok: false, credential: null, failure: decoded };
  const { credential } = decoded;
  const fits = compareCredential(credential, payment, now);
  if (!fits.ok) return { ok: false, credential, failure: fits };
  return askChain(credential, payment);
}

/** @throws Problem rpc_unavailable where the chain does not answer */
export async function askingChain<T>(chain: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    log().warn({ chain, reason: chainFailure(error) }, "The chain does not answer");
    throw chainAway();
  }
}

/** For a credential that fits the payment. @throws Problem rpc_unavailable */
export async function askChain(credential: Credential, payment: ExpectedPayment): Promise<Verified> {
  const { chain } = payment.asset;
  const [facts, newest] = await askingChain(chain, () => Promise.all([readChainFacts(credential, payment), newestBlock(chain)]));
  const verdict = judgeChainFacts(facts, payment);
  return verdict.ok
    ? { ok: true, credential, fromBlock: searchFrom(chain, newest) }
    : { ok: false, credential, failure: verdict };
}

/** A block may still be replaced, so the search for a settlement starts a little before the newest one. */
export function searchFrom(chain: string, newest: bigint): bigint {
  const margin = BigInt(chainOf(chain)?.confirmations ?? 0) + 16n;
  return newest > margin ? newest - margin : 0n;
}
