import { database, type Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import type { BindResult, MandateLock } from "#lib/execute/begin-execution.ts";
import { ownerOfNonce, type AuthorizationRow } from "#lib/holds/execution-store.ts";
import { expectedPayment, type Verification } from "#lib/payments/executions/verify-credential.ts";
import { adoptPlainSettlement, findPlainSettlement, type PlainSettlement } from "#lib/settlement/store.ts";
import { credentialHeaders, decodeCredential, type Credential } from "#lib/x402/credential.ts";
import { compareSigner } from "#lib/x402/verify.ts";

/** The settlement without a mandate that used the nonce. Null if there is none, or it failed or is not the authorized payment. */
async function settledAs(
  db: Parameters<typeof ownerOfNonce>[0],
  credential: Credential,
  authorization: AuthorizationRow,
): Promise<PlainSettlement | null> {
  const owner = await ownerOfNonce(db, credential);
  const settlement = owner === null ? null : await findPlainSettlement(db, owner);
  return settlement && isSamePayment(settlement, authorization) ? settlement : null;
}

const fits = (known: string | null, said: string | null): boolean => known === null || said === null || known === said;

function isSamePayment(settlement: PlainSettlement, authorization: AuthorizationRow): boolean {
  const { asset, amount, payTo } = expectedPayment(authorization);
  return (
    settlement.status !== "failed" &&
    settlement.environment === authorization.environment &&
    settlement.chain === asset.chain &&
    settlement.tokenAddress === asset.tokenAddress &&
    settlement.amount === amount &&
    settlement.payTo === payTo &&
    fits(authorization.sellerOrganizationId, settlement.organizationId) &&
    fits(authorization.sellerId, settlement.sellerId) &&
    fits(authorization.resourceId, settlement.resourceId)
  );
}

/** Whether this payment has a settlement that did not fail. The signature is not compared here; adoptSettlement does that. */
export async function wasSettledAs(header: string, authorization: AuthorizationRow): Promise<boolean> {
  const decoded = decodeCredential(header);
  return decoded.ok && (await settledAs(database(), decoded.credential, authorization)) !== null;
}

/** A nonce is public, so the signature must be verified now, or the same signed payment must have been settled earlier. */
const isSigned = (verified: Verification, { hash }: Credential, { credentialHash }: PlainSettlement): boolean =>
  verified.ok || verified.failure.code === "nonce_already_used" || hash === credentialHash;

/**
 * Makes a settlement that the seller asked for earlier this execution, so that the mandate is charged. Null if none is the
 * authorized payment of the mandate's wallet with a proven signature, or if it already belongs to an authorization.
 */
export async function adoptSettlement(
  tx: Tx,
  authorization: AuthorizationRow,
  verified: Verification,
  { mandate, now }: MandateLock,
): Promise<BindResult | null> {
  const { credential } = verified;
  const settlement = credential && (await settledAs(tx, credential, authorization));
  if (!credential || !settlement || !isSigned(verified, credential, settlement)) return null;
  if (!compareSigner(credential.payer, mandate?.walletAddress ?? null).ok) return null;
  if (!(await adoptPlainSettlement(tx, settlement.settlementId, authorization.authorizationId))) return null;
  const { amount, asset, chain, settlementMode } = authorization;
  const state = {
    amount,
    asset,
    chain,
    settlementStatus: settlementMode === "facilitatorSettled" ? "processing" : "pending",
    facilitatorUrl: null,
    credential: credential.payload,
    tokenAddress: credential.token,
    nonce: credential.nonce,
    validBefore: settlement.validBefore,
    credentialHeaders: credentialHeaders(credential),
    settlementReference: settlement.transaction,
    fromBlock: settlement.fromBlock,
    nextCheckAt: now,
  };
  return { ok: true, executionId: newId("execution"), state };
}
