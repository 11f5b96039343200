import type { PendingQuery, Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import type { ApprovalRow, NewCheckout } from "#lib/approvals/checkout-rows.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import {
  isAboveAll,
  isAboveUnverified,
  joinRisk,
  readRisk,
  riskColumn,
  sellerPaidBefore,
} from "#lib/approvals/decision/risk-store.ts";
import { bulkInsert } from "#lib/db/bulk.ts";
import { allColumns, columnNames, jsonColumns, readRow, writeRows } from "#lib/db/rows.ts";
import { changedReservations } from "#lib/holds/tables.ts";
import { insertMailOn, type NewMail } from "#lib/mail/store.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";
import { subjectLives } from "#lib/identity/live-store.ts";

/* LATERAL with LIMIT 1 looks up rows one by one; PostgreSQL could otherwise choose a plan that scans the whole table. */

/**
 * `ids` must be sorted, or two batches can deadlock; `after` is always true, but makes PostgreSQL lock the mandates first.
 * A later statement reads the checkouts, because it sees what other transactions committed before this lock.
 */
export const lockCheckouts = (c: Sql, ids: readonly string[], organizations: readonly string[], after: PendingQuery<Row[]>) => c`
  SELECT k.checkout_intent_id FROM unnest(${ids}::text[]) AS w(id), LATERAL (
    SELECT checkout_intent_id FROM checkout_intents
    WHERE checkout_intent_id = w.id AND organization_id = ANY(${organizations}::text[]) AND ${after}
    LIMIT 1 FOR NO KEY UPDATE) k`;

/** A person's approvals run one by one, as each counts those of the last day. Lock checkouts before, in their own statement. */
export const lockApprovers = (c: Sql, userIds: readonly string[]) => c`
  SELECT pg_advisory_xact_lock(hashtextextended('approvals of ' || w.id, 0)) FROM unnest(${userIds}::text[]) AS w(id)`;

/** `slots` come from slotOf. */
export const storedReplies = (c: Sql, slots: readonly string[]) => c`
  SELECT i.* FROM unnest(${slots}::text[]) AS w(slot), LATERAL (
    SELECT slot, fingerprint, status, body FROM idempotency WHERE slot = w.slot LIMIT 1) i`;

const columns = {
  checkout: jsonColumns(checkoutIntents),
  approval: jsonColumns(checkoutApprovals),
  review: jsonColumns(checkoutReviews),
  held: jsonColumns(changedReservations),
};

type Pairs = { readonly of: readonly string[]; readonly ids: readonly string[] };

/** Read the rows with readLocked. */
export const approvalFacts = (c: Sql, { of: sessionIds, ids }: Pairs, organizations: readonly string[]) => c`
  SELECT row_to_json(k) AS checkout, row_to_json(a) AS approval, row_to_json(r) AS review, row_to_json(h) AS held,
    s.created_at AS session_created_at, s.email AS approver_email, u.step_up_id, u.method AS step_up_method,
    ${c.unsafe(subjectLives("k.organization_id", "k.owner_subject_id"))} AS agent_live,
    ${sellerPaidBefore(c)},
    (SELECT policy_version FROM waivers WHERE used_by_authorization_id = k.authorization_id LIMIT 1) AS waived_version,
    ${riskColumn(c)}
  FROM unnest(${sessionIds}::text[], ${ids}::text[]) AS w(session_id, id),
    LATERAL (SELECT ${c.unsafe(columns.checkout)} FROM checkout_intents
      WHERE checkout_intent_id = w.id AND organization_id = ANY(${organizations}::text[]) LIMIT 1) k
    LEFT JOIN LATERAL (SELECT ${c.unsafe(columns.approval)} FROM checkout_approvals
      WHERE checkout_intent_id = k.checkout_intent_id LIMIT 1) a ON true
    LEFT JOIN LATERAL (SELECT ${c.unsafe(columns.review)} FROM checkout_reviews
      WHERE session_id = w.session_id AND checkout_intent_id = k.checkout_intent_id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT created_at, user_id, (SELECT email FROM "user" WHERE id = session.user_id) AS email
      FROM session WHERE id = w.session_id LIMIT 1) s ON true
    ${joinRisk(c)}
    LEFT JOIN LATERAL (SELECT step_up_id, method FROM step_ups
      WHERE checkout_intent_id = k.checkout_intent_id AND session_id = w.session_id AND used_at IS NULL
        AND expires_at > clock_timestamp()
        AND basket_hash = k.basket_hash AND amount = k.amount::numeric AND pay_to = k.pay_to
        AND (method <> 'passkey' OR EXISTS (SELECT FROM passkey WHERE id = passkey_id))
      ORDER BY method = 'passkey' DESC, step_up_id LIMIT 1) u ON true
    LEFT JOIN LATERAL (SELECT ${c.unsafe(columns.held)} FROM changed_reservations
      WHERE authorization_id = k.authorization_id LIMIT 1) h ON true`;

export function readLocked(row: Row): LockedCheckout {
  const approval = row["approval"] && readRow(checkoutApprovals, row["approval"] as Row);
  const checkout = readRow(checkoutIntents, row["checkout"] as Row);
  const risk = readRisk(row["risk"] as Row);
  // A session or a password alone gives softwareApproved; only a passkey that signed the terms gives passkeyApproved.
  const reached = row["step_up_method"] === "passkey" ? "passkeyApproved" : "softwareApproved";
  return {
    checkout,
    approval,
    review: row["review"] && readRow(checkoutReviews, row["review"] as Row),
    stepUp: {
      sessionCreatedAt: new Date((row["session_created_at"] as string | null) ?? 0),
      sellerPaidBefore: row["seller_paid_before"] as boolean,
      aboveThreshold: isAboveAll(risk, checkout.amount),
      aboveUnverified: isAboveUnverified(risk, checkout.amount),
      done: row["step_up_id"] !== null,
    },
    risk,
    stepUpId: row["step_up_id"] as string | null,
    approverEmail: row["approver_email"] as string | null,
    assuranceLevel: (approval?.assuranceLevel as AssuranceLevel | undefined) ?? reached,
    agentLive: row["agent_live"] as boolean,
    waivedVersion: row["waived_version"] as number | null,
    held: row["held"] && readRow(changedReservations, row["held"] as Row),
  };
}

const approvalNames = columnNames(checkoutApprovals);

/** The JSON may contain any character, which bulkInsert stores unchanged. */
export const insertCheckouts: (c: Sql, rows: readonly NewCheckout[]) => PendingQuery<Row[]> = bulkInsert(
  "checkout_intents",
  allColumns(checkoutIntents),
);

export type Grant = {
  readonly approval: ApprovalRow;
  readonly stepUpId: string | null;
  /** The authorization that reserved the budget while the person was asked; the approval takes over its hold. */
  readonly heldId: string | null;
  /** The mail to the person who approved. */
  readonly mail: NewMail | null;
  /** For a payment that is made elsewhere: it is held until this deadline, and the approval is used at once. */
  readonly keptUntil: Date | null;
};

/** Saves approval and status of the checkout, uses up the step-up, hands the hold over to the approval, and queues the mail. */
export function saveGrant(c: Sql, { approval, stepUpId, heldId, mail, keptUntil }: Grant): readonly PromiseLike<unknown>[] {
  const { checkoutIntentId, mandateId, authorizationId } = approval;
  const now = approval.createdAt.toISOString();
  const saved = c`
    WITH approved AS (
        INSERT INTO checkout_approvals (${c.unsafe(approvalNames)})
        SELECT ${c.unsafe(approvalNames)}
        FROM json_populate_recordset(NULL::checkout_approvals, ${writeRows(checkoutApprovals, [approval])}::json)),
      used AS (UPDATE step_ups SET used_at = ${now}::timestamptz WHERE step_up_id = ${stepUpId}),
      taken AS (
        UPDATE changed_reservations SET approval_key = NULL, ${
          keptUntil === null
            ? c`expires_at = ${approval.expiresAt.toISOString()}::timestamptz`
            : c`expires_at = ${keptUntil.toISOString()}::timestamptz, status = 'submitted', captured = 0, released = 0, refunded = 0`
        }
        WHERE authorization_id = ${heldId})
      ${mail === null ? c`` : c`, mailed AS (${insertMailOn(c, mail)})`}
    UPDATE checkout_intents SET status = 'approved', mandate_id = ${mandateId}, authorization_id = ${authorizationId},
      updated_at = ${now}::timestamptz WHERE checkout_intent_id = ${checkoutIntentId}`;
  if (keptUntil === null) return [saved];
  return [
    saved,
    c`WITH kept AS (UPDATE recorded_payments SET deadline = ${keptUntil.toISOString()}::timestamptz WHERE authorization_id = ${heldId})
      UPDATE checkout_intents SET status = 'authorized' WHERE checkout_intent_id = ${checkoutIntentId}`,
  ];
}

export type OrderDecision = {
  readonly orderId: string;
  readonly lease: string;
  readonly status: string;
  readonly attempt: number;
  readonly offer: object;
  readonly authorizationId: string;
  readonly checkoutIntentId: string | null;
};

/** Divides by zero if another call has the lease or deleted the order, so that the transaction stores no authorization either. */
export const saveDecided = (c: Sql, order: OrderDecision) => c`
  WITH saved AS (
    UPDATE orders SET status = ${order.status}, attempt = ${order.attempt}, offer = ${JSON.stringify(order.offer)}::text::json,
      authorization_id = ${order.authorizationId}, checkout_intent_id = ${order.checkoutIntentId}, updated_at = statement_timestamp()
    WHERE order_id = ${order.orderId} AND lease = ${order.lease} RETURNING order_id)
  SELECT 1 / count(*) FROM saved`;

export type OrderRedemption = {
  readonly orderId: string;
  readonly lease: string;
  readonly offer: object;
  readonly approvalId: string;
  readonly checkoutIntentId: string;
  readonly authorizationId: string;
  readonly payableUntil: Date;
  readonly at: Date;
};

/** Marks the approval as used and keeps the amount reserved at least until `payableUntil`. Divides by zero as saveDecided. */
export const saveRedeemed = (c: Sql, one: OrderRedemption): readonly PromiseLike<unknown>[] => {
  const at = one.at.toISOString();
  return [
    c`UPDATE checkout_approvals SET status = 'consumed', continuation_token_status = 'redeemed', resolved_at = ${at}::timestamptz
      WHERE approval_id = ${one.approvalId} AND status = 'pending'`,
    c`UPDATE checkout_intents SET status = 'authorized', order_id = ${one.orderId}, updated_at = ${at}::timestamptz
      WHERE checkout_intent_id = ${one.checkoutIntentId}`,
    c`UPDATE changed_reservations SET approval_key = NULL, expires_at = greatest(expires_at, ${one.payableUntil.toISOString()}::timestamptz)
      WHERE authorization_id = ${one.authorizationId} AND status = 'held'`,
    c`WITH saved AS (
        UPDATE orders SET status = 'paymentCredentialRequired', offer = ${JSON.stringify(one.offer)}::text::json, updated_at = ${at}::timestamptz
        WHERE order_id = ${one.orderId} AND lease = ${one.lease} RETURNING order_id)
      SELECT 1 / count(*) FROM saved`,
  ];
};

/** The policy now denies what a person approved; runs in the transaction that decides the payment again. */
export const saveRefused = (c: Sql, { orderId, lease }: Pick<OrderDecision, "orderId" | "lease">) => c`
  UPDATE orders SET status = 'denied', updated_at = statement_timestamp() WHERE order_id = ${orderId} AND lease = ${lease}`;
