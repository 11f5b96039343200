import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { getAddress, type Hex } from "viem";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import type { Caller } from "#lib/http/operation.ts";
import { deploymentAt, requireSameContracts } from "#lib/onchain/registry/deployments.ts";
import { PATHS } from "#lib/onchain/registry/registration-terms.ts";
import { lifeAt, type Life } from "#lib/onchain/registry/periods.ts";
import { proveTransfer } from "#lib/onchain/registry/transfer-proof.ts";
import { checkProof, delegatesNow, type RegisteredPayment } from "#lib/onchain/registry/refusals.ts";
import { takeNonceSlot, type NonceSlot } from "#lib/onchain/registry/nonce-slot-store.ts";
import { currentRegistration, type RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { digestOf } from "#lib/onchain/token.ts";
import { requireOpenPayment, requireRightsNow } from "#lib/execute/begin-execution.ts";
import type { Proof } from "#lib/execute/bind-credential.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import { lockMandate } from "#lib/holds/hold-store.ts";
import { urlOf } from "#lib/payments/present-execution.ts";
import { notDelegated, periodEnds, refusedOnChain } from "#lib/payments/executions/onchain-refusal.ts";
import { acceptedOffer } from "#lib/payments/unregistered-offer.ts";
import { secondsLeftFor, verifyCredential, type Verification } from "#lib/payments/executions/verify-credential.ts";
import { askingChain } from "#lib/chains/asking-chain.ts";
import { failed } from "#lib/x402/failure.ts";
import { identifierOf } from "#lib/x402/payment-identifier.ts";
import { requirementsOf, type ExpectedPayment } from "#lib/x402/requirements.ts";

/** Returns the registration even if its terms do not fit the payment. Null if the mandate's version is not registered here. */
export async function registrationFor({
  mandateId,
  chain,
}: Pick<AuthorizationRow, "mandateId" | "chain">): Promise<RegistrationRow | null> {
  const deployment = deploymentAt(chain);
  if (!deployment) return null;
  return currentRegistration(database(), { mandateId, chain, registry: deployment.mandateRegistry.toLowerCase() });
}

export const registeredPayment = ({ account, onChainId }: RegistrationRow, payment: ExpectedPayment): RegisteredPayment => ({
  chain: payment.asset.chain,
  account: account as Hex,
  onChainId: onChainId as Hex,
  token: payment.asset.tokenAddress,
  payee: payment.payTo,
  value: payment.amount,
});

/** The registration for signing the payment here, even if it is revoked. Null if there is none for this token and payee. */
export async function provingRegistration(
  mandate: Parameters<typeof registrationFor>[0],
  { asset, payTo }: Pick<ExpectedPayment, "asset" | "payTo">,
): Promise<RegistrationRow | null> {
  const registration = await registrationFor(mandate);
  const fits =
    registration?.enforcementPath === PATHS.proofs && registration.token === asset.tokenAddress && registration.payee === payTo;
  return fits ? registration : null;
}

/**
 * Null if no registration covers the payment. Only the chain's configured RPC server sees the signature before it is stored.
 * @throws Problem
 */
export async function provePayment(
  authorization: AuthorizationRow,
  payment: ExpectedPayment,
  caller: Caller,
  now: Date,
): Promise<{ readonly verified: Verification; readonly proof: Proof } | null> {
  const registration = await provingRegistration(authorization, payment);
  if (!registration) return null;
  const refused = { mandateId: authorization.mandateId, payment, payer: registration.account };
  requireKept(registration, refused);
  const place = openLife(lifeAt(registration, now, payment.maxTimeoutSeconds), refused);
  await requireAccepted(registration, payment, place, refused);
  const slot = await reserve(authorization, registration, caller, place);
  if (!slot) throw refusedOnChain("SlotOutOfRange", refused);
  const header = await sign(authorization, payment, registration, slot, place.validBefore);
  const verified = await verifyCredential(header, payment, { now, secondsLeft: secondsLeftFor(authorization) });
  return { verified: asOurs(verified), proof: { slot, registration } };
}

/** The service stops signing as soon as a revocation is requested, before the revocation is on the chain. */
export function requireKept({ revocation }: RegistrationRow, refused: RefusedPayment): void {
  if (revocation !== "none") throw refusedOnChain("Revoked", refused);
}

type RefusedPayment = Parameters<typeof refusedOnChain>[1];
type Open = Extract<Life, { kind: "open" }>;

export function openLife(life: Life, refused: RefusedPayment): Open {
  switch (life.kind) {
    case "open":
      return life;
    case "edge":
      throw periodEnds(refused, life.seconds);
    case "notStarted":
      throw refusedOnChain("NotStarted", refused);
    case "ended":
      throw refusedOnChain("Ended", refused);
  }
}

/** Asks the chain about nonce slot 0, because only the database knows which slots are free. */
async function requireAccepted(registration: RegistrationRow, payment: ExpectedPayment, place: Open, refused: RefusedPayment) {
  const { chain } = payment.asset;
  const [, refusal, delegated] = await askingChain(chain, () =>
    Promise.all([
      requireSameContracts(chain),
      checkProof(registeredPayment(registration, payment), { ...place, slot: 0 }),
      delegatesNow(chain, registration.account as Hex),
    ]),
  );
  if (refusal !== "None") throw refusedOnChain(refusal, refused);
  if (!delegated) throw notDelegated(refused);
}

/** Null if no nonce is free. This has its own transaction, because the next step calls the network. */
const reserve = (
  authorization: AuthorizationRow,
  registration: RegistrationRow,
  caller: Caller,
  { period, validBefore }: Open,
): Promise<NonceSlot | null> =>
  database().transaction(async (tx) => {
    await enterGate(tx);
    const mandate = await lockMandate(tx, authorization.mandateId);
    await requireOpenPayment(tx, authorization, caller.subjectId);
    // Check the rights before signing, because the RPC server that verifies the signature sees it before it is stored.
    await requireRightsNow(tx, { mandate, caller, authorization });
    const { authorizationId, amount } = authorization;
    return takeNonceSlot(tx, { registration, authorizationId, amount, period, validBefore: new Date(validBefore * 1_000) });
  });

/** Signs as a standard x402 client does: for the offer in the seller's 402 response, if the intent contains the response. */
async function sign(
  { intent, authorizationId }: AuthorizationRow,
  payment: ExpectedPayment,
  { account, onChainId }: RegistrationRow,
  { period, slot, nonce }: NonceSlot,
  until: number,
): Promise<string> {
  const { challenge } = intent;
  const offer = payment.offer ?? acceptedOffer(challenge, payment);
  const transfer = { payer: account as Hex, nonce: nonce as Hex, validAfter: 0n, validBefore: BigInt(until) };
  const proven = { ...transfer, token: payment.asset.tokenAddress, payTo: payment.payTo, value: payment.amount };
  const place = { onChainId: onChainId as Hex, period, slot };
  const signature = await proveTransfer(digestOf(payment, transfer), place, proven);
  const authorization = {
    from: getAddress(account),
    to: getAddress(payment.payTo),
    value: payment.amount.toString(),
    validAfter: "0",
    validBefore: until.toString(),
    nonce,
  };
  const payload: PaymentPayload = {
    x402Version: 2,
    resource: offer?.required.resource ?? { url: urlOf(intent) },
    accepted: offer?.accepted ?? requirementsOf(payment),
    payload: { signature, authorization },
    ...identifierOf(offer?.required, authorizationId),
  };
  return encodePaymentSignatureHeader(payload);
}

/** Reports a wrong signature of the service with a different code than a wrong signature of the agent. */
function asOurs(verified: Verification): Verification {
  if (verified.ok || verified.failure.code !== "signature_invalid") return verified;
  return { ...verified, failure: failed("verification_failed", "The paying account does not accept the service's proof.") };
}
