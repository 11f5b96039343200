import type { SettleResponse } from "@x402/core/types";
import { clock, transact } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf, formatAmount } from "#lib/money.ts";
import { chainOf } from "#lib/chains/chains.ts";
import type { AuthorizedTransfer } from "#lib/onchain/evidence.ts";
import { callerIsLive, claimCredential } from "#lib/holds/execution-store.ts";
import { askChain } from "#lib/payments/executions/verify-credential.ts";
import { refusePayee } from "#lib/execute/refuse-payee.ts";
import { resourceOfPayment } from "#lib/sellers/resource-of-payment.ts";
import { resourcesPaidTo } from "#lib/sellers/resource-store.ts";
import { facilitatorTimeoutMs, leaseMs } from "#lib/settlement/limits.ts";
import { pending, refused, succeeded, type Seller } from "#lib/execute/settle-replies.ts";
import { inPlace } from "#lib/execute/settle-waits.ts";
import type { SettlementRequest } from "#lib/execute/settlement-request.ts";
import { mayBroadcast } from "#lib/onchain/broadcast-caps.ts";
import { facilitatorFor } from "#lib/settlement/facilitator.ts";
import type { Finding } from "#lib/payments/executions/settlement-state.ts";
import { resolvePlain } from "#lib/settlement/reconcile-plain.ts";
import {
  endWork,
  findPlainSettlement,
  handOverPlain,
  insertPlainSettlement,
  takeWork,
  type PlainSettlement,
} from "#lib/settlement/store.ts";
import { evidenceWithin, settleAndConfirm, settlingMs } from "#lib/settlement/submit.ts";
import { leaseHeld } from "#lib/time.ts";
import { endOf, signatureHash } from "#lib/x402/credential.ts";
import type { FailureCode } from "#lib/x402/failure.ts";
import { requirementsOf } from "#lib/x402/requirements.ts";

/** Settles a payment without a mandate at most once, and records the settlement for the seller. */
export async function settlePlain(asked: SettlementRequest, seller: Seller): Promise<SettleResponse> {
  const { credential, expected } = asked;
  const verified = await askChain(credential, expected);
  if (!verified.ok) return refused(asked, verified.failure.code, verified.failure.detail);
  const settlementId = newId("settlement");
  const begun = await begin(asked, seller, settlementId, verified.fromBlock);
  if (begun === "revoked") return revoked(asked);
  if (begun === "capped") return capped(asked);
  if (begun === "claimed") return refused(asked, "nonce_already_used");
  return send(asked, seller, settlementId, {
    chain: expected.asset.chain,
    tokenAddress: expected.asset.tokenAddress,
    payer: credential.payer,
    payTo: expected.payTo,
    amount: expected.amount,
    nonce: credential.nonce,
    validBefore: endOf(credential),
    fromBlock: verified.fromBlock,
  });
}

/** A repeated request sends the transaction again only if no other request is working on it. */
export async function settlePlainAgain(
  asked: SettlementRequest,
  settlement: PlainSettlement,
  seller: Seller,
): Promise<SettleResponse> {
  const { settlementId, status, handedOver, workedUntil, errorReason } = settlement;
  if (handedOver) return refused(asked, "nonce_already_used");
  if (status === "failed") return refused(asked, (errorReason ?? "settlement_rejected") as FailureCode);
  if (status === "settled")
    return book(asked, seller, settlementId, { kind: "settled", transaction: settlement.transaction ?? "" });
  const isLeft = !leaseHeld(workedUntil, leaseMs(), await clock(database()));
  const waitMs = isLeft ? 0 : facilitatorTimeoutMs() + (await settlingMs(settlement.chain));
  const waited = await inPlace(seller.organizationId, () => evidenceWithin(settlement, waitMs));
  if (waited === null) return pending(asked, settlement.transaction);
  const final = waited.value;
  if (final) return book(asked, seller, settlementId, final);
  if (!isLeft) return pending(asked, await transactionOf(settlementId));
  const verified = await askChain(asked.credential, asked.expected);
  // Only a confirmed block shows whether this settlement or something else used the nonce.
  if (!verified.ok && verified.failure.code === "nonce_already_used") return pending(asked, await transactionOf(settlementId));
  if (!verified.ok) return refused(asked, verified.failure.code, verified.failure.detail);
  const allowed = await orCapped(transact((tx) => takeAgain(tx, asked, seller, settlementId)));
  if (allowed === "revoked") return revoked(asked);
  if (allowed !== "admitted") {
    const transaction = await transactionOf(settlementId);
    return allowed === "taken" || transaction !== null ? pending(asked, transaction) : capped(asked);
  }
  return send(asked, seller, settlementId, settlement);
}

/** Another request may have stored the transaction after this request read the settlement. */
const transactionOf = async (settlementId: string): Promise<string | null> =>
  (await findPlainSettlement(database(), settlementId))?.transaction ?? null;

async function send(
  asked: SettlementRequest,
  seller: Seller,
  settlementId: string,
  transfer: AuthorizedTransfer,
): Promise<SettleResponse> {
  const { credential, expected } = asked;
  const atReceipt = chainOf(transfer.chain)?.settledAt === "receipt";
  const requirements = requirementsOf(expected);
  const finding = await settleAndConfirm(facilitatorFor(null), transfer, credential.payload, requirements, { atReceipt });
  return book(asked, seller, settlementId, finding);
}

/** Stores the outcome of the settlement, and answers success only once, so that the seller delivers only once. */
async function book(asked: SettlementRequest, seller: Seller, settlementId: string, finding: Finding): Promise<SettleResponse> {
  const isSuccess = finding.kind === "settled" || (finding.kind === "broadcast" && finding.received === true);
  const handedOver = await transact(async (tx) => {
    await resolvePlain(tx, { ...seller, settlementId }, finding);
    // Let another request send again, which is safe, because the token accepts the nonce only once.
    if (finding.kind === "unknown" || finding.kind === "waiting") await endWork(tx, settlementId);
    return isSuccess && (await handOverPlain(tx, settlementId, finding.kind === "broadcast"));
  });
  if (isSuccess) return handedOver ? succeeded(asked, finding.transaction) : refused(asked, "nonce_already_used");
  if (finding.kind === "failed") return refused(asked, finding.failure.code, finding.failure.detail);
  return pending(asked, finding.kind === "broadcast" ? finding.transaction : await transactionOf(settlementId));
}

const revoked = (asked: SettlementRequest): SettleResponse =>
  refused(asked, "settlement_rejected", "The key of this request, or its seller, was revoked.");

const capped = (asked: SettlementRequest): SettleResponse =>
  refused(asked, "settlement_rejected", "This seller's settlements of the day or second are used up.");

/** Takes the lock that keeps revocations out: the key or the payee may have been revoked while the chain was read. */
async function mayStill(tx: Tx, { expected }: SettlementRequest, seller: Seller): Promise<boolean> {
  await enterGate(tx);
  const paid = { payTo: expected.payTo, chain: expected.asset.chain };
  const [isLive, refusal] = await Promise.all([callerIsLive(tx, seller), refusePayee(tx, seller.organizationId, paid)]);
  return isLive && !refusal;
}

/** Call this before a settlement is sent again, which counts against the limits too. @throws Capped */
async function takeAgain(
  tx: Tx,
  asked: SettlementRequest,
  seller: Seller,
  settlementId: string,
): Promise<"admitted" | "revoked" | "taken"> {
  if (!(await mayStill(tx, asked, seller))) return "revoked";
  if (!(await takeWork(tx, settlementId, leaseMs()))) return "taken";
  if (!(await mayBroadcast(tx, seller.organizationId))) throw new Capped();
  return "admitted";
}

type Begun = "begun" | "revoked" | "capped" | "claimed";

/** Thrown to roll back everything that was stored for a settlement that exceeds a limit of the seller or of the service. */
class Capped extends Error {}

const orCapped = <T>(work: Promise<T>): Promise<T | "capped"> =>
  work.catch((error: unknown) => {
    if (error instanceof Capped) return "capped";
    throw error;
  });

const begin = (asked: SettlementRequest, seller: Seller, settlementId: string, fromBlock: bigint): Promise<Begun> =>
  orCapped(transact((tx) => beginIn(tx, asked, seller, settlementId, fromBlock)));

/**
 * The claimed nonce keeps the same signed payment from being sent under a mandate too. Claim it before counting the settlements
 * of the day, as an execution does, or the two can deadlock. @throws Capped
 */
async function beginIn(
  tx: Tx,
  asked: SettlementRequest,
  seller: Seller,
  settlementId: string,
  fromBlock: bigint,
): Promise<Exclude<Begun, "capped">> {
  const { credential, expected } = asked;
  const { organizationId, environment, serviceAccountId } = seller;
  const [isAdmitted, resources] = await Promise.all([
    mayStill(tx, asked, seller),
    resourcesPaidTo(tx, organizationId, expected.payTo),
  ]);
  if (!isAdmitted) return "revoked";
  if (!(await claimCredential(tx, credential, { authorizationId: settlementId, organizationId }))) return "claimed";
  if (!(await mayBroadcast(tx, organizationId))) throw new Capped();
  const resource = resourceOfPayment(resources, {
    url: credential.payload.resource?.url,
    amount: formatAmount(expected.amount, expected.asset.tokenDecimals),
  });
  const row = {
    settlementId,
    sellerId: resource?.sellerId ?? null,
    resourceId: resource?.resourceId ?? null,
    organizationId,
    environment,
    serviceAccountId,
    chain: credential.chain,
    tokenAddress: credential.token,
    payer: credential.payer,
    nonce: credential.nonce,
    payTo: expected.payTo,
    amount: atomicOf(expected.amount),
    credentialHash: credential.hash,
    signatureHash: signatureHash(credential),
    validBefore: endOf(credential),
    fromBlock,
    status: "processing",
  };
  await insertPlainSettlement(tx, row, leaseMs());
  return "begun";
}
