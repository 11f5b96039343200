import { askingChain } from "#lib/chains/asking-chain.ts";
import { assetOf, chainOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { newestBlock, publicClient } from "#lib/chains/client.ts";
import { lower } from "#lib/evm.ts";
import { isUndeployed, readChainFacts, TOO_MUCH_GAS, wouldTransfer } from "#lib/onchain/token.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import { acceptedOffer } from "#lib/payments/unregistered-offer.ts";
import { equalOffers } from "#lib/x402/compare-challenge.ts";
import { decodeCredential, type Credential } from "#lib/x402/credential.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";
import {
  compareCredential,
  isCanonicalSignature,
  judgeChainFacts,
  SENT_LATER_SECONDS,
  SENT_NOW_SECONDS,
  type Verdict,
} from "#lib/x402/verify.ts";

export type Verification =
  | { readonly ok: true; readonly credential: Credential; readonly fromBlock: bigint }
  | { readonly ok: false; readonly credential: Credential | null; readonly failure: Failure };

/** The payment that an authorization allows, with the token from the configuration. */
export function expectedPayment(authorization: AuthorizationRow): ExpectedPayment {
  const { chain, asset: symbol, amount, payTo, maxTimeoutSeconds, settlementMode } = authorization;
  const asset = assetOf(chain, symbol);
  if (!asset) throw new Error(`${symbol} on ${chain} is no longer configured.`);
  if (payTo === null) throw new Error("An authorization names no payee.");
  const offer = settlementMode === "offchainAuthorized" ? offerIn(authorization, asset) : null;
  return { asset, amount, payTo: lower(payTo), maxTimeoutSeconds, ...(offer && { offer }) };
}

const offerIn = ({ intent, amount, payTo }: AuthorizationRow, asset: AssetOnChain) =>
  payTo === null ? null : acceptedOffer(intent.challenge, { asset, amount, payTo });

/** Half of the time that the seller's 402 gives, if that is less than what is usual: some sellers give only seconds. */
export function secondsLeftFor(authorization: AuthorizationRow): number {
  const offer = offerIn(authorization, expectedPayment(authorization).asset);
  const given = offer ? equalOffers(offer).map(({ maxTimeoutSeconds }) => Math.ceil(maxTimeoutSeconds / 2)) : [];
  return Math.min(authorization.settlementMode === "offchainAuthorized" ? SENT_NOW_SECONDS : SENT_LATER_SECONDS, ...given);
}

/** Compares the signed payment with the expected payment, then asks the chain. @throws Problem rpc_unavailable */
export async function verifyCredential(
  header: string,
  payment: ExpectedPayment,
  { now, secondsLeft }: { readonly now: Date; readonly secondsLeft: number },
): Promise<Verification> {
  const decoded = decodeCredential(header, payment);
  if (!decoded.ok) return { ok: false, credential: null, failure: decoded };
  const { credential } = decoded;
  const fits = compareCredential(credential, payment, now, secondsLeft);
  if (!fits.ok) return { ok: false, credential, failure: fits };
  return askChain(credential, payment);
}

/** Asks the chain whether the token would accept a credential that fits the payment. @throws Problem rpc_unavailable */
export async function askChain(credential: Credential, payment: ExpectedPayment): Promise<Verification> {
  const { chain } = payment.asset;
  const [verdict, newest] = await askingChain(chain, () => Promise.all([judgeTransfer(credential, payment), newestBlock(chain)]));
  return verdict.ok
    ? { ok: true, credential, fromBlock: searchFrom(chain, newest) }
    : { ok: false, credential, failure: verdict };
}

const DEPLOY_FIRST = "The paying wallet is a contract that is not deployed. Deploy the wallet first, then execute the payment.";

/** One request to the chain is usually enough; otherwise further requests find the reason. */
async function judgeTransfer(credential: Credential, payment: ExpectedPayment): Promise<Verdict> {
  const { signature, validAfter } = credential;
  if (await isUndeployed(credential, payment.asset.chain)) return failed("signature_invalid", DEPLOY_FIRST);
  const transfers = await wouldTransfer(credential, payment);
  // Some tokens accept signatures of plain accounts (132 characters) in a non-canonical form, which this service refuses.
  if (transfers && (signature.length !== 132 || isCanonicalSignature(signature))) return { ok: true };
  const verdict = judgeChainFacts(await readChainFacts(credential, payment), payment);
  if (transfers || !verdict.ok) return verdict;
  // The token compares validAfter with the time of the chain's last block; a transfer that is only too early proves nothing.
  const { timestamp } = await publicClient(payment.asset.chain).getBlock();
  if (timestamp <= validAfter) return verdict;
  if (await wouldTransfer(credential, payment, null)) return failed("settlement_rejected", TOO_MUCH_GAS);
  const refusal = "The token refuses this transfer: it may be paused, or an account may be blocked. Pay from another wallet.";
  return failed("settlement_rejected", refusal);
}

/** Asks whether the token would make the transfer if it were sent now. @throws Problem rpc_unavailable */
export const askToken = (credential: Credential, payment: ExpectedPayment): Promise<Verdict> =>
  askingChain(payment.asset.chain, () => judgeTransfer(credential, payment));

/** The block from which the settlement is searched: a little before `newest`, because a recent block may still be replaced. */
export function searchFrom(chain: string, newest: bigint): bigint {
  const margin = BigInt(chainOf(chain)?.confirmations ?? 0) + 16n;
  return newest > margin ? newest - margin : 0n;
}
