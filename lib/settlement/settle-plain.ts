import type { SettleResponse } from "@x402/core/types";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf } from "#lib/money.ts";
import { newestBlock } from "#lib/onchain/client.ts";
import type { AuthorizedTransfer } from "#lib/onchain/evidence.ts";
import { claimCredential } from "#lib/payments/execution-store.ts";
import { askChain, chainAway } from "#lib/payments/verify-credential.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import { pending, refused, succeeded, type Seller } from "#lib/settlement/settle-replies.ts";
import type { AskedSettlement } from "#lib/settlement/asked-settlement.ts";
import { mayBroadcast } from "#lib/settlement/broadcast-caps.ts";
import { facilitatorFor } from "#lib/settlement/facilitator.ts";
import type { Finding } from "#lib/settlement/state.ts";
import { insertPlainSettlement, resolvePlainSettlement, type PlainSettlement } from "#lib/settlement/store.ts";
import { settleAndConfirm } from "#lib/settlement/submit.ts";
import { requirementsOf } from "#lib/x402/requirements.ts";

/** A payment without a mandate: settled as any x402 facilitator would, once, and recorded for the seller. */
export async function settlePlain(asked: AskedSettlement, seller: Seller): Promise<SettleResponse> {
  const { credential, expected } = asked;
  const verified = await askChain(credential, expected);
  if (!verified.ok) return refused(asked, verified.failure.code, verified.failure.detail);
  const settlementId = newId("settlement");
  const begun = await begin(asked, seller, settlementId);
  if (begun === "capped")
    return refused(asked, "settlement_rejected", "This seller's settlements of the day or second are used up.");
  if (begun === "claimed") return refused(asked, "nonce_already_used");
  return send(asked, seller, settlementId, verified.fromBlock);
}

/** More blocks than the longest credential lives. */
const BLOCKS_OF_A_DAY = 45_000n;

/** A repeat of the seller: what was settled is used up, what nobody works on any more is followed to its end. */
export async function settlePlainAgain(
  asked: AskedSettlement,
  { status, settlementId, createdAt, transaction }: PlainSettlement,
  seller: Seller,
): Promise<SettleResponse> {
  if (status !== "processing") return refused(asked, "nonce_already_used");
  if (Date.now() - createdAt.getTime() < leaseMs()) return pending(asked, transaction);
  const newest = await newestBlock(asked.credential.chain).catch(() => {
    throw chainAway();
  });
  return send(asked, seller, settlementId, newest > BLOCKS_OF_A_DAY ? newest - BLOCKS_OF_A_DAY : 0n);
}

async function send(asked: AskedSettlement, seller: Seller, settlementId: string, fromBlock: bigint): Promise<SettleResponse> {
  const { credential, expected } = asked;
  const transfer: AuthorizedTransfer = {
    chain: expected.asset.chain,
    tokenAddress: expected.asset.tokenAddress,
    payer: credential.payer,
    payTo: expected.payTo,
    amount: expected.amount,
    nonce: credential.nonce,
    validBefore: new Date(Number(credential.validBefore) * 1000),
    fromBlock,
  };
  const finding = await settleAndConfirm(facilitatorFor(null), transfer, credential.payload, requirementsOf(expected));
  await finish(settlementId, seller, finding);
  return answer(asked, finding);
}

/** The claim keeps the credential from ever being executed under a mandate as well. */
const begin = (
  { credential, expected }: AskedSettlement,
  seller: Seller,
  settlementId: string,
): Promise<"begun" | "capped" | "claimed"> =>
  transact(async (tx) => {
    const { organizationId, environment, serviceAccountId } = seller;
    if (!(await mayBroadcast(tx, organizationId))) return "capped";
    if (!(await claimCredential(tx, credential, { authorizationId: settlementId, organizationId }))) return "claimed";
    await insertPlainSettlement(tx, {
      settlementId,
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
      status: "processing",
    });
    return "begun";
  });

const finish = (settlementId: string, { organizationId, serviceAccountId }: Seller, finding: Finding): Promise<void> =>
  transact(async (tx) => {
    const transaction = finding.kind === "settled" || finding.kind === "broadcast" ? finding.transaction : null;
    const errorReason = finding.kind === "failed" ? finding.failure.code : null;
    const status = finding.kind === "settled" || finding.kind === "failed" ? finding.kind : "processing";
    await resolvePlainSettlement(tx, settlementId, { status, transaction, errorReason });
    const event = {
      type: `settlement.${status}`,
      actorId: serviceAccountId,
      organizationId,
      entityType: "settlement",
      entityId: settlementId,
    };
    audit(
      tx,
      { ...event, metadata: { ...(transaction !== null && { transaction }), ...(errorReason !== null && { errorReason }) } },
      await clock(tx),
    );
  });

function answer(asked: AskedSettlement, finding: Finding): SettleResponse {
  if (finding.kind === "settled") return succeeded(asked, finding.transaction);
  if (finding.kind === "failed") return refused(asked, finding.failure.code, finding.failure.detail);
  return pending(asked, finding.kind === "broadcast" ? finding.transaction : null);
}
