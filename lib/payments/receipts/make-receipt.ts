import type { ApprovalRow } from "#lib/approvals/checkout-rows.ts";
import { eventText, type ChainedEvent } from "#lib/audit/chain.ts";
import { proveEvent } from "#lib/audit/prove-event.ts";
import { signJws } from "#lib/audit/signing-key.ts";
import { clock } from "#lib/audit/transact.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { AuthorizationRow, ExecutionRow } from "#lib/holds/execution-store.ts";
import { policyDecisionIdOf } from "#lib/holds/ids.ts";
import { formatAmount, isUnitChain, UNIT_DECIMALS } from "#lib/money.ts";
import { Problem } from "#lib/problem.ts";
import { checkEvent, readEvent } from "#lib/receipts/check-event.ts";
import type { Answer, Receipt } from "#lib/receipts/receipt-schema.ts";
import { Refusal } from "#lib/receipts/refusal.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";
import type { z } from "zod";

type ReceiptFacts = {
  readonly authorization: AuthorizationRow;
  readonly approval: ApprovalRow | null;
  /** The audit event that states the same as the receipt. The receipt names the event's place and hash in the audit log. */
  readonly event: ChainedEvent;
};

/** `asset` is in the form of CAIP-19. @throws Problem service_unavailable if the token is no longer configured */
function paidIn({ amount, asset, chain }: AuthorizationRow) {
  if (isUnitChain(chain)) return { amount: amount.toString(), decimals: UNIT_DECIMALS, asset: `${chain}/fiat:${asset}` };
  const token = assetOf(chain, asset);
  if (!token)
    throw new Problem("service_unavailable", {
      detail: `This service is no longer configured for ${asset} on ${chain}, so it cannot state the amount of this payment.`,
    });
  return {
    amount: amount.toString(),
    decimals: token.tokenDecimals,
    asset: `${chain}/erc20:${token.tokenAddress.toLowerCase()}`,
  };
}

function claimsOf({ authorization, approval, event }: ReceiptFacts, now: Date) {
  const { authorizationId, outcome, denialCode, mandateId, policyVersion, subjectId, payTo, sellerId, resourceId, intent } =
    authorization;
  const { unitAmount, unitRate } = authorization;
  const { domain } = intent.seller;
  return {
    iss: env().BASE_URL,
    iat: Math.floor(now.getTime() / 1_000),
    sub: authorizationId,
    outcome: outcome as Receipt["outcome"],
    ...(denialCode !== null && { denialCode }),
    mandate: { id: mandateId, version: policyVersion },
    agent: subjectId,
    payee: { ...(domain !== undefined && { domain }), ...(payTo !== null && { payTo }), ...(sellerId !== null && { sellerId }) },
    ...(resourceId !== null && { resource: { id: resourceId } }),
    ...paidIn(authorization),
    ...(unitAmount !== null &&
      unitRate !== null && { unit: { amount: formatAmount(unitAmount, UNIT_DECIMALS), rate: unitRate } }),
    ...(approval && {
      approval: { id: approval.approvalId, basketHash: approval.approvedBasketHash, assurance: approval.assuranceLevel },
    }),
    log: { chain: event.chain, leafIndex: event.sequence - 1, leafHash: event.hash },
  };
}

/** Claims and event can differ if somebody changed the database or a token's decimals. @throws Problem service_unavailable */
function requireStated(claims: Receipt, event: ChainedEvent): void {
  try {
    checkEvent(claims, readEvent(eventText(event)));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Problem("service_unavailable", {
      detail: `${error.message} An operator must verify the audit and the configuration.`,
    });
  }
}

async function answer(claims: Receipt, event: ChainedEvent): Promise<z.infer<typeof Answer>> {
  requireStated(claims, event);
  const proof = await proveEvent(event);
  const receipt = signJws("decision-receipt+jwt", claims);
  return { receipt, ...(proof && { proof }) };
}

export async function decisionReceipt(facts: ReceiptFacts) {
  const claims = claimsOf(facts, await clock(database()));
  return answer({ kind: "authorization", jti: policyDecisionIdOf(facts.authorization), ...claims }, facts.event);
}

/** `event` is the event of the approval. */
export async function approvalReceipt(facts: ReceiptFacts, { approvalId, approvedBasketHash, assuranceLevel }: ApprovalRow) {
  const claims = claimsOf(facts, await clock(database()));
  const approval = { id: approvalId, basketHash: approvedBasketHash, assurance: assuranceLevel };
  return answer({ kind: "approval", jti: approvalId, ...claims, approval }, facts.event);
}

/** `event` is the newest event that states the execution's settlement status. */
export async function executionReceipt(facts: ReceiptFacts, execution: ExecutionRow) {
  const { executionId, settlementReference } = execution;
  const status = execution.settlementStatus as SettlementStatus;
  const settlement = { status, ...(settlementReference !== null && { transaction: settlementReference }) };
  const claims = claimsOf(facts, await clock(database()));
  return answer({ kind: "execution", jti: executionId, ...claims, settlement }, facts.event);
}
