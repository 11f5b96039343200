import type { Tx } from "#lib/db/client.ts";
import { inFlight } from "#lib/command/idempotency.ts";
import { newId } from "#lib/ids.ts";
import { nonceSlotOf, useNonceSlot, type NonceSlot } from "#lib/onchain/registry/nonce-slot-store.ts";
import { currentRegistration, type RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { adoptSettlement } from "#lib/execute/adopt-settlement.ts";
import { copiedColumns, type BindResult, type MandateLock, type Means } from "#lib/execute/begin-execution.ts";
import { claimCredential, ownerOfNonce, type AuthorizationRow } from "#lib/holds/execution-store.ts";
import { expectedPayment, type Verification } from "#lib/payments/executions/verify-credential.ts";
import { Problem } from "#lib/problem.ts";
import { mayBroadcast, refuseSmall } from "#lib/onchain/broadcast-caps.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import { credentialHeaders, endOf, type Credential } from "#lib/x402/credential.ts";
import { refuseUnproven } from "#lib/execute/refuse-payee.ts";
import { failed } from "#lib/x402/failure.ts";
import { compareSigner } from "#lib/x402/verify.ts";

/** A worker asks the chain for the first time after this many milliseconds, so that the seller can settle first. */
const FIRST_CHECK_MS = 1_000;

/** The numbered nonce and the onchain registration with which this service made the signature itself. */
export type Proof = { readonly slot: NonceSlot; readonly registration: RegistrationRow };

type Binding = {
  readonly authorization: AuthorizationRow;
  readonly verified: Verification;
  readonly proof: Proof | null;
};

export const meansOf = ({ settlementMode, facilitatorUrl }: AuthorizationRow, { credential }: Verification): Means => ({
  settlementMode,
  facilitatorUrl,
  credentialHash: credential?.hash ?? null,
  payer: credential?.payer ?? null,
});

/** Binds the payment to its authorization, so that it pays nothing else. @throws Problem rate_limited, idempotency_in_flight */
export async function bindCredential(tx: Tx, binding: Binding, locked: MandateLock): Promise<BindResult> {
  const { authorization, verified, proof } = binding;
  const { mandate, now } = locked;
  const adopt = async (): Promise<BindResult | null> => (proof ? null : adoptSettlement(tx, authorization, verified, locked));
  if (!verified.ok) return (await adopt()) ?? unusable(tx, binding, verified.failure);
  const { credential } = verified;
  const signer = compareSigner(credential.payer, mandate?.walletAddress ?? null);
  if (!signer.ok) return { ok: false, failure: signer };
  const unpayable = await refuseUnpayable(tx, authorization);
  if (unpayable) return { ok: false, failure: unpayable };
  if (proof) await requireSlot(tx, authorization, proof);
  if (!(await claim(tx, credential, binding))) {
    const detail = "This credential belongs to another payment. Sign a new one for this authorization.";
    const adopted = await adopt();
    if (adopted) return adopted;
    return unusable(tx, binding, failed("nonce_already_used", detail));
  }
  await requireGas(tx, authorization);
  const state = submitted(credential, authorization, verified.fromBlock, now);
  return { ok: true, executionId: newId("execution"), state };
}

/** If the nonce was used already, marks its slot as used, so that the next attempt takes another slot. */
async function unusable(tx: Tx, { proof }: Binding, failure: Extract<BindResult, { ok: false }>["failure"]): Promise<BindResult> {
  if (proof && failure.code === "nonce_already_used") await useNonceSlot(tx, proof.slot.slotId);
  return { ok: false, failure };
}

/** Since it was taken, the nonce slot may have been freed, or the registration replaced or revoked. */
async function requireSlot(tx: Tx, { authorizationId }: AuthorizationRow, { slot, registration }: Proof): Promise<void> {
  const held = await nonceSlotOf(tx, authorizationId);
  const current = await currentRegistration(tx, registration);
  const same = held?.slotId === slot.slotId && current?.registrationId === slot.registrationId;
  if (!same || current.revocation !== "none") throw inFlight();
}

/** If the service signed, the registration owns the nonce, because the nonce slot already names the authorization. */
async function claim(tx: Tx, credential: Credential, { authorization, proof }: Binding): Promise<boolean> {
  if (!proof) return claimCredential(tx, credential, authorization);
  const { registrationId, organizationId } = proof.registration;
  if (await claimCredential(tx, credential, { authorizationId: registrationId, organizationId })) return true;
  return (await ownerOfNonce(tx, credential)) === registrationId;
}

const weSettle = ({ settlementMode, facilitatorUrl }: AuthorizationRow): boolean =>
  settlementMode === "facilitatorSettled" && facilitatorUrl === null;

const refuseUnpayable = async (tx: Tx, authorization: AuthorizationRow) =>
  (weSettle(authorization) ? refuseSmall(authorization.amount, expectedPayment(authorization).asset) : null) ??
  refuseUnproven(tx, authorization, weSettle(authorization));

/** Limits the settlements of a registered seller, because this service pays their gas. */
async function requireGas(tx: Tx, authorization: AuthorizationRow): Promise<void> {
  const { sellerOrganizationId } = authorization;
  if (!weSettle(authorization) || sellerOrganizationId === null) return;
  if (await mayBroadcast(tx, sellerOrganizationId)) return;
  throw new Problem("rate_limited", {
    detail: "Too many settlements: of this seller in this second or today, or of the service today. Try again later.",
    retryAfterSeconds: 60,
  });
}

/** From nextCheckAt on, a worker looks for the seller's settlement, or finishes a submission whose process died. */
function submitted(credential: Credential, authorization: AuthorizationRow, fromBlock: bigint, now: Date) {
  const isSettledForSeller = authorization.settlementMode === "facilitatorSettled";
  return {
    ...copiedColumns(authorization),
    settlementStatus: isSettledForSeller ? "processing" : "pending",
    credential: credential.payload,
    tokenAddress: credential.token,
    nonce: credential.nonce,
    validBefore: endOf(credential),
    credentialHeaders: credentialHeaders(credential),
    fromBlock,
    nextCheckAt: new Date(now.getTime() + (isSettledForSeller ? leaseMs() : FIRST_CHECK_MS)),
  };
}
