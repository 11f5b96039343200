import type { Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import { defaultStepUpLimits } from "#lib/identity/step-up-limits.ts";
import { atomicOf, max, min, subtract, zero, type Atomic } from "#lib/money.ts";

/** The limits without step-up, and what the person let through otherwise within a day, in atomic units. */
export type Risk = {
  readonly most: Atomic;
  readonly mostUnverified: Atomic;
  readonly lately: Atomic;
  readonly latelyUnverified: Atomic;
  readonly payeeVerified: boolean;
};

const { above, aboveUnverified } = defaultStepUpLimits;

/**
 * For a checkout `k` and a session `s`, `q` has the limits of Risk and `l` its sums: of pending and used approvals, and of what
 * the person let through by other acts. A subject counts once, with its largest amount, and `k` itself does not count.
 */
export const joinRisk = (c: Sql) => c`
  LEFT JOIN LATERAL (SELECT trunc(coalesce(o.step_up_above, ${above}::numeric) * 10::numeric ^ k.token_decimals) AS most,
      trunc(coalesce(o.step_up_above_unverified, ${aboveUnverified}::numeric) * 10::numeric ^ k.token_decimals) AS most_unverified,
      coalesce((SELECT verified FROM sellers WHERE seller_id = k.seller_id LIMIT 1), false) AS payee_verified
    FROM organization o WHERE o.id = k.organization_id LIMIT 1) q ON true
  LEFT JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS lately, coalesce(sum(amount) FILTER (WHERE NOT verified), 0) AS lately_unverified
    FROM (SELECT a.approved_amount AS amount,
        coalesce((SELECT verified FROM sellers WHERE seller_id = i.seller_id LIMIT 1), false) AS verified
      FROM checkout_approvals a, LATERAL (SELECT seller_id FROM checkout_intents
        WHERE checkout_intent_id = a.checkout_intent_id LIMIT 1) i
      WHERE a.approved_by_subject_id = s.user_id AND a.approved_at > (SELECT clock_timestamp() - interval '1 day')
        AND a.organization_id = k.organization_id AND a.approved_asset = k.asset AND a.approved_chain = k.chain
        AND a.status IN ('pending', 'consumed') AND a.checkout_intent_id <> k.checkout_intent_id
      UNION ALL SELECT max(w.amount), bool_and(w.verified) FROM allowances w
      WHERE w.user_id = s.user_id AND w.created_at > (SELECT clock_timestamp() - interval '1 day')
        AND w.organization_id = k.organization_id AND w.asset = k.asset AND w.chain = k.chain
        AND w.subject_id <> k.checkout_intent_id GROUP BY w.subject_id OFFSET 0) t) l ON true`;

/** For a checkout `k`: whether its organization has paid the seller before, under any mandate. */
export const sellerPaidBefore = (c: Sql) => c`
  EXISTS (SELECT FROM mandates m WHERE m.organization_id = k.organization_id AND EXISTS (
    SELECT FROM mandate_sellers p WHERE p.mandate_id = m.mandate_id
      AND p.seller_id = coalesce(k.seller_id, k.domain || ' ' || lower(k.pay_to)))) AS seller_paid_before`;

/** Amounts are text, because JSON numbers lose digits. */
export const riskColumn = (c: Sql) => c`
  json_build_object('most', q.most::text, 'most_unverified', q.most_unverified::text, 'lately', l.lately::text,
    'lately_unverified', l.lately_unverified::text, 'payee_verified', q.payee_verified) AS risk`;

const amountIn = (row: Row, name: string): Atomic => atomicOf((row[name] as string | null) ?? "0");

export const readRisk = (row: Row): Risk => ({
  most: amountIn(row, "most"),
  mostUnverified: amountIn(row, "most_unverified"),
  lately: amountIn(row, "lately"),
  latelyUnverified: amountIn(row, "lately_unverified"),
  payeeVerified: row["payee_verified"] === true,
});

/** How much more the person may approve for the payee before the amount requires a new proof of identity (step-up). */
export function roomOf({ most, lately, mostUnverified, latelyUnverified, payeeVerified }: Risk): Atomic {
  const room = subtract(most, lately);
  return max(zero, payeeVerified ? room : min(room, subtract(mostUnverified, latelyUnverified)));
}

export const isAboveAll = ({ most, lately }: Risk, amount: Atomic): boolean => amount + lately > most;

export const isAboveUnverified = ({ payeeVerified, mostUnverified, latelyUnverified }: Risk, amount: Atomic): boolean =>
  !payeeVerified && amount + latelyUnverified > mostUnverified;
