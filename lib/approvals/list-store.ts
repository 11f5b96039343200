import type { Sql } from "#lib/db/sql.ts";
import type { ApprovalRow, NewCheckout } from "#lib/approvals/checkout-rows.ts";
import { bulkInsert } from "#lib/db/bulk.ts";
import { insertMailOn, type NewMail } from "#lib/mail/store.ts";

/* Statements for batch items with a checkout. They walk the batch row by row; lib/payments/list-statements.ts says why. */

/** Locks checkouts in the order of their ids, after the mandates. Their contents are read after the lock. */
export const lockCheckouts = (c: Sql, ids: readonly string[], organizations: readonly string[]) => c`
  SELECT k.checkout_intent_id FROM unnest(${ids}::text[]) AS w(id), LATERAL (
    SELECT checkout_intent_id FROM checkout_intents
    WHERE checkout_intent_id = w.id AND organization_id = ANY(${organizations}::text[]) LIMIT 1 FOR NO KEY UPDATE) k`;

/** Stored replies of items with an idempotency key and extra rows. */
export const storedReplies = (c: Sql, slots: readonly string[]) => c`
  SELECT i.* FROM unnest(${slots}::text[]) AS w(slot), LATERAL (
    SELECT slot, fingerprint, status, body FROM idempotency WHERE slot = w.slot LIMIT 1) i`;

type Pairs = { readonly ids: readonly string[]; readonly sessionIds: readonly string[] };

/** A locked checkout with all facts for an approval. */
export const approvalFacts = (c: Sql, { ids, sessionIds }: Pairs, organizations: readonly string[]) => c`
  SELECT k.*, a.*, r.*, s.*, u.*, h.*,
    EXISTS (SELECT FROM service_accounts WHERE service_account_id = k.owner_subject_id AND revoked_at IS NULL)
      OR EXISTS (SELECT FROM member b JOIN "user" u ON u.id = b.user_id AND (NOT u.banned OR u.ban_expires <= clock_timestamp())
        WHERE b.user_id = k.owner_subject_id AND b.organization_id = k.organization_id) AS agent_live,
    EXISTS (SELECT FROM mandates m WHERE m.organization_id = k.organization_id AND EXISTS (
      SELECT FROM mandate_sellers p WHERE p.mandate_id = m.mandate_id
        AND p.seller_id = coalesce(k.seller_id, k.domain || ' ' || lower(k.pay_to)))) AS seller_paid_before,
    EXISTS (SELECT FROM organization o WHERE o.id = k.organization_id
      AND o.step_up_above * 10::numeric ^ k.token_decimals < k.amount) AS above_threshold
  FROM unnest(${ids}::text[], ${sessionIds}::text[]) AS w(id, session_id),
    LATERAL (SELECT * FROM checkout_intents WHERE checkout_intent_id = w.id AND organization_id = ANY(${organizations}::text[]) LIMIT 1) k
    LEFT JOIN LATERAL (SELECT approval_id, status AS approval_status, approved_at, approved_by_subject_id, reason,
        preselected_mandate_id, mandate_id AS approval_mandate_id, agent_id, approval_surface, assurance_level, approved_basket_hash, approved_amount,
        approved_asset, approved_chain, approved_pay_to, authorization_id AS approval_authorization_id, continuation_token_id,
        continuation_token_hash, continuation_token_status, expires_at AS approval_expires_at, created_at AS approval_created_at,
        resolved_at FROM checkout_approvals WHERE checkout_intent_id = k.checkout_intent_id LIMIT 1) a ON true
    LEFT JOIN LATERAL (SELECT basket_hash AS review_basket_hash, amount AS review_amount, asset AS review_asset,
        chain AS review_chain, pay_to AS review_pay_to, shown_at FROM checkout_reviews
      WHERE session_id = w.session_id AND checkout_intent_id = k.checkout_intent_id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT w.session_id AS session_id, s.created_at AS session_created_at,
        (SELECT email FROM "user" WHERE id = s.user_id) AS approver_email
      FROM session s WHERE s.id = w.session_id LIMIT 1) s ON true
    LEFT JOIN LATERAL (SELECT u.step_up_id, u.method AS step_up_method FROM step_ups u
      WHERE u.checkout_intent_id = k.checkout_intent_id AND u.session_id = w.session_id AND u.used_at IS NULL
        AND u.expires_at > clock_timestamp()
        AND (u.method <> 'passkey' OR (u.basket_hash = k.basket_hash AND u.amount = k.amount AND u.pay_to = k.pay_to
          AND EXISTS (SELECT FROM passkey WHERE id = u.passkey_id)))
      ORDER BY u.method = 'passkey' DESC, u.step_up_id LIMIT 1) u ON true
    LEFT JOIN LATERAL (SELECT reservation_id AS held_id, amount AS held_amount, status AS held_status, buckets AS held_buckets,
        expires_at AS held_expires_at
      FROM reservations
      WHERE reservation_id = (SELECT reservation_id FROM authorizations WHERE authorization_id = k.authorization_id) LIMIT 1) h ON true`;

const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value));

/** Inserts the checkouts of the batch's authorizations. */
export const insertCheckouts = bulkInsert<NewCheckout>("checkout_intents", [
  ["checkout_intent_id", "text", (row) => row.checkoutIntentId],
  ["organization_id", "text", (row) => row.organizationId],
  ["environment", "text", (row) => row.environment],
  ["owner_subject_id", "text", (row) => row.ownerSubjectId],
  ["seller_id", "text", (row) => row.sellerId],
  ["resource_id", "text", (row) => row.resourceId],
  ["domain", "text", (row) => row.domain],
  ["storefront_url", "text", (row) => row.storefrontUrl],
  ["mandate_id", "text", (row) => row.mandateId],
  ["detected_mandate_id", "text", (row) => row.detectedMandateId],
  ["mandate_status", "text", (row) => row.mandateStatus],
  ["canonical_basket", "json", (row) => json(row.canonicalBasket)],
  ["basket_hash", "text", (row) => row.basketHash],
  ["amount", "numeric", (row) => String(row.amount)],
  ["asset", "text", (row) => row.asset],
  ["chain", "text", (row) => row.chain],
  ["pay_to", "text", (row) => row.payTo],
  ["token_address", "text", (row) => row.tokenAddress],
  ["token_decimals", "int", (row) => String(row.tokenDecimals)],
  ["quote_id", "text", (row) => row.quoteId],
  ["quote_expires_at", "timestamptz", (row) => row.quoteExpiresAt?.toISOString() ?? null],
  ["challenge", "json", (row) => json(row.challenge)],
  ["fee_quote", "json", (row) => json(row.feeQuote)],
  ["items", "json", (row) => json(row.items)],
  ["storefront", "json", (row) => json(row.storefront)],
  ["metadata", "json", (row) => json(row.metadata)],
  ["creates_fulfillment_order", "boolean", (row) => String(row.createsFulfillmentOrder)],
  ["status", "text", (row) => row.status],
  ["authorization_id", "text", (row) => row.authorizationId],
  ["order_id", "text", (row) => row.orderId],
  ["expires_at", "timestamptz", (row) => row.expiresAt.toISOString()],
  ["created_at", "timestamptz", (row) => row.createdAt.toISOString()],
  ["updated_at", "timestamptz", (row) => row.updatedAt.toISOString()],
]);

const insertApprovals = bulkInsert<ApprovalRow>("checkout_approvals", [
  ["approval_id", "text", (row) => row.approvalId],
  ["checkout_intent_id", "text", (row) => row.checkoutIntentId],
  ["organization_id", "text", (row) => row.organizationId],
  ["status", "text", (row) => row.status],
  ["approved_at", "timestamptz", (row) => row.approvedAt.toISOString()],
  ["approved_by_subject_id", "text", (row) => row.approvedBySubjectId],
  ["reason", "text", (row) => row.reason],
  ["preselected_mandate_id", "text", (row) => row.preselectedMandateId],
  ["mandate_id", "text", (row) => row.mandateId],
  ["agent_id", "text", (row) => row.agentId],
  ["approval_surface", "text", (row) => row.approvalSurface],
  ["assurance_level", "text", (row) => row.assuranceLevel],
  ["approved_basket_hash", "text", (row) => row.approvedBasketHash],
  ["approved_amount", "numeric", (row) => String(row.approvedAmount)],
  ["approved_asset", "text", (row) => row.approvedAsset],
  ["approved_chain", "text", (row) => row.approvedChain],
  ["approved_pay_to", "text", (row) => row.approvedPayTo],
  ["authorization_id", "text", (row) => row.authorizationId],
  ["continuation_token_id", "text", (row) => row.continuationTokenId],
  ["continuation_token_hash", "text", (row) => row.continuationTokenHash],
  ["continuation_token_status", "text", (row) => row.continuationTokenStatus],
  ["expires_at", "timestamptz", (row) => row.expiresAt.toISOString()],
  ["created_at", "timestamptz", (row) => row.createdAt.toISOString()],
]);

type Grant = {
  readonly approval: ApprovalRow;
  readonly stepUpId: string | null;
  /** The checkout's hold, which the approval takes over. */
  readonly heldId: string | null;
  /** The mail to the person who approved. */
  readonly mail: NewMail | null;
};

/** Writes the approval, the checkout that it decides, the step-up that it uses and the hold that it takes over. */
export function saveGrant(c: Sql, { approval, stepUpId, heldId, mail }: Grant): readonly PromiseLike<unknown>[] {
  const { checkoutIntentId, mandateId, authorizationId, createdAt, expiresAt } = approval;
  const now = createdAt.toISOString();
  return [
    insertApprovals(c, [approval]),
    c`UPDATE checkout_intents SET status = 'approved', mandate_id = ${mandateId}, authorization_id = ${authorizationId},
        updated_at = ${now}::timestamptz WHERE checkout_intent_id = ${checkoutIntentId}`,
    ...(stepUpId === null ? [] : [c`UPDATE step_ups SET used_at = ${now}::timestamptz WHERE step_up_id = ${stepUpId}`]),
    ...(mail === null ? [] : [insertMailOn(c, mail)]),
    ...(heldId === null
      ? []
      : [
          c`UPDATE reservations SET approval_key = NULL, expires_at = ${expiresAt.toISOString()}::timestamptz WHERE reservation_id = ${heldId}`,
        ]),
  ];
}
