import type { ApprovalRow, CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { CheckoutApproval, CheckoutIntent } from "#lib/approvals/checkout-schema.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import { displayAmount, formatAmount, isUnitChain } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";
import type {
  ApprovalStatus,
  CheckoutStatus,
  ContinuationTokenStatus,
  EffectSettlement,
  Environment,
  MandateMatch,
} from "#lib/vocabulary.ts";

function settlementOf(status: CheckoutStatus): EffectSettlement {
  if (status === "completed") return "settled";
  return status === "authorized" || status === "executing" ? "authorized" : "none";
}

/** An undecided checkout whose time has passed is expired, also before the worker has stored that. */
export const statusAt = ({ status, expiresAt }: Pick<CheckoutRow, "status" | "expiresAt">, now: Date): CheckoutStatus =>
  isOpen(status as CheckoutStatus) && expiresAt <= now ? "expired" : (status as CheckoutStatus);

export function presentCheckout(row: CheckoutRow, now: Date): CheckoutIntent {
  const status = statusAt(row, now);
  const { amount, tokenDecimals, asset } = row;
  return {
    checkoutIntentId: row.checkoutIntentId,
    ownerSubjectId: row.ownerSubjectId,
    ownerOrganizationId: row.organizationId,
    ...(row.sellerId !== null && { sellerId: row.sellerId }),
    storefrontUrl: row.storefrontUrl,
    ...(row.mandateId !== null && { mandateId: row.mandateId }),
    ...(row.detectedMandateId !== null && { detectedMandateId: row.detectedMandateId }),
    mandateStatus: row.mandateStatus as MandateMatch,
    canonicalBasket: { ...row.canonicalBasket, lines: [...row.canonicalBasket.lines] },
    basketHash: row.basketHash,
    amount: formatAmount(amount, tokenDecimals),
    displayAmount: displayAmount(amount, tokenDecimals, asset),
    asset,
    chain: row.chain,
    payTo: row.payTo,
    tokenAddress: row.tokenAddress,
    tokenDecimals,
    ...(row.quoteId !== null && { quoteId: row.quoteId }),
    status,
    environment: row.environment as Environment,
    effects: {
      movesFunds: !isUnitChain(row.chain),
      createsFulfillmentOrder: row.createsFulfillmentOrder,
      settlement: settlementOf(status),
    },
    createdAt: toWire(row.createdAt),
    expiresAt: toWire(row.expiresAt),
  };
}

/** A pending approval whose time has passed is expired, also before the worker has stored that. */
export function presentApproval(row: ApprovalRow, tokenDecimals: number, now: Date): CheckoutApproval {
  const over = row.status === "pending" && row.expiresAt <= now;
  const status = over ? "expired" : (row.status as ApprovalStatus);
  const continuation = over ? "expired" : (row.continuationTokenStatus as ContinuationTokenStatus | null);
  return {
    approvalId: row.approvalId,
    checkoutIntentId: row.checkoutIntentId,
    status,
    ...(status !== "rejected" && { approvedAt: toWire(row.approvedAt) }),
    approvedBySubjectId: row.approvedBySubjectId,
    ...(row.preselectedMandateId !== null && { preselectedMandateId: row.preselectedMandateId }),
    ...(row.mandateId !== null && { mandateId: row.mandateId }),
    ...(row.authorizationId !== null && status === "consumed" && { authorizationId: row.authorizationId }),
    approvalSurface: "service_hosted_confirmation",
    approvedBasketHash: row.approvedBasketHash,
    approvedAmount: formatAmount(row.approvedAmount, tokenDecimals),
    approvedAsset: row.approvedAsset,
    ...(row.continuationTokenId !== null && { continuationTokenId: row.continuationTokenId }),
    ...(continuation !== null && { continuationTokenStatus: continuation }),
    expiresAt: toWire(row.expiresAt),
    createdAt: toWire(row.createdAt),
  };
}
