import type { Row } from "postgres";
import type { CheckoutTerms, StepUpFacts } from "#lib/approvals/approval.ts";
import type { ApprovalRow, CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { atomicOf } from "#lib/money.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** A checkout, read by a batch under its lock. */
export type LockedCheckout = {
  readonly checkout: CheckoutRow;
  readonly approval: ApprovalRow | null;
  readonly review: (CheckoutTerms & { readonly shownAt: Date }) | null;
  readonly stepUp: StepUpFacts;
  readonly stepUpId: string | null;
  /** The email address of the session's person; null without a session. */
  readonly approverEmail: string | null;
  /** The level of the approval; before the approval, the level that it would have now. */
  readonly assuranceLevel: AssuranceLevel;
  readonly held: { readonly reservationId: string; readonly status: string } | null;
};

function read(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/amount$/i.test(name)) return atomicOf(value);
  return name.endsWith("At") ? new Date(value) : value;
}

/** Converts a row: snake_case to the tables' column names, amounts to bigint, times to dates. */
const camel = (row: Row, names: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(names).map(([name, column]) => [name, read(name, row[column])]));

const checkoutColumns = Object.fromEntries(
  (
    "checkoutIntentId organizationId environment ownerSubjectId sellerId resourceId domain storefrontUrl mandateId " +
    "detectedMandateId mandateStatus canonicalBasket basketHash amount asset chain payTo tokenAddress tokenDecimals quoteId " +
    "quoteExpiresAt challenge feeQuote items storefront metadata createsFulfillmentOrder status authorizationId orderId " +
    "expiresAt createdAt updatedAt"
  )
    .split(" ")
    .map((name) => [name, snake(name)]),
);

const approvalColumns = {
  ...Object.fromEntries(
    (
      "approvalId checkoutIntentId organizationId approvedAt approvedBySubjectId reason preselectedMandateId agentId approvalSurface assuranceLevel " +
      "approvedBasketHash approvedAmount approvedAsset approvedChain approvedPayTo continuationTokenId continuationTokenHash " +
      "continuationTokenStatus resolvedAt"
    )
      .split(" ")
      .map((name) => [name, snake(name)]),
  ),
  // Both tables have these columns, so the approval's columns are renamed.
  status: "approval_status",
  mandateId: "approval_mandate_id",
  authorizationId: "approval_authorization_id",
  expiresAt: "approval_expires_at",
  createdAt: "approval_created_at",
};

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** passkeyApproved only if a passkey signed the approved terms; a session alone is softwareApproved. */
export const assuranceOf = (row: Row): AssuranceLevel =>
  (row["assurance_level"] as AssuranceLevel | null) ??
  (row["step_up_method"] === "passkey" ? "passkeyApproved" : "softwareApproved");

export function readLocked(row: Row): LockedCheckout {
  const text = (name: string) => row[name] as string;
  return {
    checkout: camel(row, checkoutColumns) as CheckoutRow,
    approval: row["approval_id"] === null ? null : (camel(row, approvalColumns) as ApprovalRow),
    review:
      row["review_basket_hash"] === null
        ? null
        : {
            basketHash: text("review_basket_hash"),
            amount: atomicOf(text("review_amount")),
            asset: text("review_asset"),
            chain: text("review_chain"),
            payTo: text("review_pay_to"),
            shownAt: new Date(text("shown_at")),
          },
    stepUp: {
      sessionCreatedAt: new Date(row["session_created_at"] === null ? 0 : text("session_created_at")),
      sellerPaidBefore: row["seller_paid_before"] as boolean,
      aboveThreshold: row["above_threshold"] as boolean,
      done: row["step_up_id"] !== null,
    },
    stepUpId: row["step_up_id"] as string | null,
    assuranceLevel: assuranceOf(row),
    approverEmail: row["approver_email"] as string | null,
    held: row["held_id"] === null ? null : { reservationId: text("held_id"), status: text("held_status") },
  };
}
