import { PaymentRequirementsV1Schema, PaymentRequirementsV2Schema, type PaymentRequirementsV2 } from "@x402/core/schemas";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { assetAt } from "#lib/chains/chains.ts";
import { lower } from "#lib/evm.ts";
import { authorizationOf, claimOf, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { expectedPayment } from "#lib/payments/executions/verify-credential.ts";
import { refusePayee } from "#lib/execute/refuse-payee.ts";
import { tooSmallToSell } from "#lib/onchain/broadcast-caps.ts";
import { executionOfCredential, findPlainSettlement, type PlainSettlement } from "#lib/settlement/store.ts";
import {
  decodeCredential,
  readCredential,
  signatureHash,
  type Credential,
  type DecodedCredential,
} from "#lib/x402/credential.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";
import { paymentSignatureHeader, type ExpectedPayment } from "#lib/x402/requirements.ts";
import { compareCredential, SENT_NOW_SECONDS } from "#lib/x402/verify.ts";
import { chainOfNetwork, isVersion1 } from "#lib/x402/version-1.ts";

/** For this long after a payment without a mandate has expired, the seller can still be told that its settlement succeeded. */
const HANDED_OVER_WITHIN_MS = 10 * 60_000;

/** What has used the nonce of the credential: nothing, an execution, or a settlement that began without a mandate ("plain"). */
export type Match =
  | { readonly kind: "unknown" }
  | { readonly kind: "execution"; readonly execution: ExecutionRow; readonly authorization: AuthorizationRow }
  | { readonly kind: "plain"; readonly settlement: PlainSettlement };

export type SettlementRequest = { readonly credential: Credential; readonly expected: ExpectedPayment; readonly match: Match };

type RequestBody = {
  readonly x402Version: 1 | 2;
  readonly paymentPayload: object;
  readonly paymentRequirements: object;
};
type ReadResult = ({ readonly ok: true } & SettlementRequest) | ({ readonly ok: false; readonly payer: string | null } & Failure);

const refuse = (failure: Failure, payer: string | null): ReadResult => ({ ...failure, ok: false, payer });

/** Refuses an expired payment unless its execution is settled or its settlement without a mandate has begun (refuseLate). */
export async function readAsked(asked: RequestBody, organizationId: string): Promise<ReadResult> {
  const { x402Version, paymentRequirements } = asked;
  const required = x402Version === 1 ? readRequiredV1(paymentRequirements) : readRequiredV2(paymentRequirements);
  const decoded = readPayload(asked, required.ok ? required.expected : undefined);
  if (!required.ok) return refuse(required, decoded.ok ? decoded.credential.payer : null);
  if (!decoded.ok) return refuse(decoded, null);
  const { credential } = decoded;
  const { payer } = credential;
  const { expected } = required;
  const [refused, match, now] = await Promise.all([
    refusePayee(database(), organizationId, { payTo: expected.payTo, chain: expected.asset.chain }),
    matchCredential(credential),
    clock(database()),
  ]);
  if (refused) return refuse(refused, payer);
  const foreign = refuseForeign(match, credential, organizationId) ?? refuseLate(match, now);
  if (foreign) return refuse(foreign, payer);
  const fits = compareCredential(
    credential,
    match.kind === "execution" ? expectedPayment(match.authorization) : expected,
    now,
    SENT_NOW_SECONDS,
  );
  const small = isBegun(match) ? null : tooSmallToSell(expected.amount, expected.asset);
  if (small !== null) return refuse(failed("settlement_rejected", small), payer);
  const late = !fits.ok && fits.code === "credential_expired" && wasSubmitted(match);
  if (!fits.ok && !late) return refuse(fits, payer);
  if (match.kind === "execution" && !samePayment(expectedPayment(match.authorization), expected)) {
    return refuse(failed("amount_mismatch", "The credential was authorized for another payment than the one required."), payer);
  }
  return { ok: true, credential, expected, match };
}

const isBegun = (match: Match): boolean =>
  match.kind === "plain" || (match.kind === "execution" && match.execution.settlementStatus !== "pending");

/** Whether the payment is answered even after its expiry, within the limit of refuseLate. */
const wasSubmitted = (match: Match): boolean =>
  (match.kind === "execution" && match.execution.settlementStatus === "settled") || match.kind === "plain";

const samePayment = (a: ExpectedPayment, b: ExpectedPayment): boolean =>
  a.amount === b.amount &&
  a.payTo === b.payTo &&
  a.asset.chain === b.asset.chain &&
  a.asset.tokenAddress === b.asset.tokenAddress;

/** The nonce of a payment is public, so the organization and the signature are compared too. */
function refuseForeign(match: Match, credential: Credential, organizationId: string): Failure | null {
  if (match.kind === "plain") {
    const { organizationId: owner, payTo, amount } = match.settlement;
    const paysAlike = payTo === credential.payTo && amount === credential.value;
    const isSame = paysAlike && match.settlement.signatureHash === signatureHash(credential);
    if (isSame && owner !== organizationId) return settledByAnother(payTo, match.settlement);
    if (!paysAlike || owner !== organizationId)
      return failed("nonce_already_used", "The nonce of this credential belongs to another settlement.");
    if (isSame) return null;
    return failed("signature_invalid", "The signature is not that of the credential that was settled.");
  }
  if (match.kind === "unknown") return null;
  const { sellerOrganizationId } = match.authorization;
  if (sellerOrganizationId !== null && sellerOrganizationId !== organizationId) {
    const { settlementStatus: status, settlementReference: transaction } = match.execution;
    if (status === "settled") return settledByAnother(credential.payTo, { status, transaction });
    return failed("recipient_mismatch", "This payment was authorized for another seller.");
  }
  const stored = decodeCredential(match.execution.credentialHeaders?.[paymentSignatureHeader] ?? "");
  if (!stored.ok || stored.credential.signature !== credential.signature)
    return failed("signature_invalid", "The signature is not that of the credential that was executed.");
  return null;
}

/** While nobody has proved an address, each organization that registers it can settle payments to it; the money arrives once. */
function settledByAnother(payTo: string, { status, transaction }: Pick<PlainSettlement, "status" | "transaction">): Failure {
  const arrived = `The payment has arrived at ${payTo} with the transaction ${transaction ?? ""}: another organization that registered this address settled it first.`;
  const sent = `Another organization that registered ${payTo} settles this payment already. See listSettlements and the chain for its arrival.`;
  const proof = "Prove the address with challengePayTo and provePayTo, so that nobody else can settle payments to it.";
  const detail =
    status === "settled" ? arrived : status === "failed" ? "Another organization tried to settle this payment." : sent;
  return failed("nonce_already_used", `${detail} ${proof}`);
}

/** A settled payment is public on the chain, so anybody could show it to the seller, who would be told that it succeeded. */
function refuseLate(match: Match, now: Date): Failure | null {
  if (match.kind !== "plain" || match.settlement.status === "failed") return null;
  if (now.getTime() <= match.settlement.validBefore.getTime() + HANDED_OVER_WITHIN_MS) return null;
  return failed(
    "nonce_already_used",
    "The credential expired before its seller asked again. Use listSettlements to see whether it was settled.",
  );
}

type RequirementsResult = { readonly ok: true; readonly expected: ExpectedPayment } | ({ readonly ok: false } & Failure);

function readPayload({ x402Version, paymentPayload }: RequestBody, expected: ExpectedPayment | undefined): DecodedCredential {
  if (isVersion1(paymentPayload) !== (x402Version === 1))
    return failed("credential_malformed", "The payment payload is of another x402 version than the request.");
  return readCredential(paymentPayload, expected);
}

function readRequiredV1(json: object): RequirementsResult {
  const parsed = PaymentRequirementsV1Schema.safeParse(json);
  if (!parsed.success) return failed("verification_failed", "The payment requirements are not x402 version 1.");
  const { network, maxAmountRequired: amount, ...rest } = parsed.data;
  const chain = chainOfNetwork(network);
  if (chain === undefined) return failed("network_mismatch", `x402 version 1 has no network ${network.slice(0, 64)}.`);
  return requiredPayment({ ...rest, network: chain, amount });
}

function readRequiredV2(json: object): RequirementsResult {
  const parsed = PaymentRequirementsV2Schema.safeParse(json);
  return parsed.success
    ? requiredPayment(parsed.data)
    : failed("verification_failed", "The payment requirements are not x402 version 2.");
}

type Terms = Pick<PaymentRequirementsV2, "scheme" | "network" | "amount" | "asset" | "payTo" | "maxTimeoutSeconds">;

function requiredPayment({ scheme, network, amount, asset: token, payTo, maxTimeoutSeconds }: Terms): RequirementsResult {
  if (scheme !== "exact") return failed("scheme_unsupported", "Only the scheme exact is supported.");
  const asset = assetAt(network, token);
  if (!asset) return failed("asset_mismatch", "This token is not configured here.");
  if (!/^[1-9][0-9]{0,77}$/.test(amount)) return failed("amount_mismatch", "The amount is not a positive whole number.");
  return { ok: true, expected: { asset, amount: BigInt(amount), payTo: lower(payTo), maxTimeoutSeconds } };
}

async function matchCredential(credential: Credential): Promise<Match> {
  const owner = await claimOf(database(), credential);
  if (owner === null) return { kind: "unknown" };
  const execution = await executionOfCredential(database(), credential, owner);
  if (execution) return { kind: "execution", execution, authorization: await authorizationOf(database(), execution) };
  const settlement = await findPlainSettlement(database(), owner);
  return settlement ? { kind: "plain", settlement } : { kind: "unknown" };
}
