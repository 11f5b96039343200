import type postgres from "postgres";
import { brokenLogs } from "./oracle-log.ts";
import { brokenLimits } from "./oracle-limits.ts";

/* What must be true after any faults, computed from the base tables alone. Nothing here imports code of the service or reads one
   of its views, so that an error there cannot agree with itself. */

export type Sql = postgres.TransactionSql | postgres.Sql;

/** A payment that the service acknowledged with `allow`. */
export type Acknowledgement = { readonly authorizationId: string; readonly mandateId: string };

export type HoldRow = {
  readonly id: string;
  readonly mandate: string;
  readonly version: number;
  readonly outcome: string;
  readonly status: string;
  /** The price and the buyer's share of the fee, in atomic units. */
  readonly amount: string;
  readonly spent: string;
  readonly reserved: string;
  readonly buckets: string | null;
  /** Microseconds since 1970; `ended` is null while the amount is reserved or after it was spent. */
  readonly began: string;
  readonly ended: string | null;
};

/** A sum of the row `c` of changed_reservations. 0.2.0 has no such column, and is judged too. */
const part = (sql: Sql, name: "captured" | "released" | "refunded") => sql`(to_jsonb(c) ->> ${name}::text)::numeric`;

/** A hold has no row of its own until it changes, so most of it stands in the authorization. */
const readHolds = (sql: Sql) => sql<HoldRow[]>`
  SELECT a.authorization_id AS id, a.mandate_id AS mandate, a.policy_version AS version, a.outcome, coalesce(c.status, 'held') AS status,
    (a.amount + a.buyer_share)::text AS amount, a.buckets, coalesce(${part(sql, "captured")}, CASE WHEN c.status = 'captured' THEN c.amount ELSE 0 END)::text AS spent,
    (CASE WHEN coalesce(c.status, 'held') IN ('held', 'submitted')
      THEN coalesce(c.amount, a.amount + a.buyer_share) - coalesce(${part(sql, "captured")} + ${part(sql, "released")}, 0) ELSE 0 END)::text AS reserved, floor(extract(epoch FROM a.created_at) * 1000000)::text AS began,
    CASE WHEN c.status IN ('released', 'expired') THEN floor(extract(epoch FROM c.resolved_at) * 1000000)::text END AS ended
  FROM authorizations a LEFT JOIN changed_reservations c USING (authorization_id)
  WHERE a.held OR c.authorization_id IS NOT NULL ORDER BY a.created_at`;

/** Each query returns rows with `what`, one for each violation. */
const rules = (sql: Sql) => [
  sql`SELECT 'an allowed payment without a hold: ' || authorization_id AS what FROM authorizations WHERE outcome = 'allow' AND NOT held`,
  sql`SELECT 'a denied payment with a hold: ' || authorization_id AS what FROM authorizations WHERE outcome = 'deny' AND held`,
  sql`SELECT 'a hold without an authorization: ' || c.authorization_id AS what FROM changed_reservations c
    LEFT JOIN authorizations a ON a.authorization_id = c.authorization_id AND a.held WHERE a.authorization_id IS NULL`,
  sql`SELECT 'a hold of another amount: ' || c.authorization_id AS what FROM changed_reservations c
    JOIN authorizations a USING (authorization_id) WHERE ${part(sql, "captured")} IS NULL AND c.amount <> a.amount + a.buyer_share`,
  sql`SELECT 'an amount that differs from its intent: ' || authorization_id AS what FROM authorizations
    WHERE amount <> (intent::json ->> 'amount')::numeric * 1000000`,
  sql`SELECT 'entries in the ledger of ' || c.authorization_id || ': ' || coalesce(string_agg(r.kind, ' ' ORDER BY r.kind), 'none') AS what
    FROM changed_reservations c LEFT JOIN resolutions r ON r.authorization_id = c.authorization_id AND r.amount = c.amount
    WHERE ${part(sql, "captured")} IS NULL GROUP BY c.authorization_id, c.status
    HAVING coalesce(string_agg(r.kind, ' ' ORDER BY r.kind), '') <> ALL (CASE c.status WHEN 'captured' THEN ARRAY['capture', 'overrun release', 'expire overrun']
      WHEN 'released' THEN ARRAY['release'] WHEN 'expired' THEN ARRAY['expire'] ELSE ARRAY[''] END)`,
  sql`SELECT 'sums that are not those of the ledger: ' || c.authorization_id AS what
    FROM changed_reservations c JOIN authorizations a USING (authorization_id), LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE kind IN ('capture', 'overrun')), 0) AS captured,
        coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0) AS refunded,
        coalesce(sum(amount) FILTER (WHERE kind = 'raise'), 0)
          - coalesce(sum(amount) FILTER (WHERE kind IN ('capture', 'release', 'expire')), 0) AS open
      FROM resolutions r WHERE r.authorization_id = c.authorization_id AND r.mandate_id = c.mandate_id) AS l
    WHERE ${part(sql, "captured")} IS NOT NULL
      AND (${part(sql, "captured")}, ${part(sql, "refunded")}, c.amount - ${part(sql, "captured")} - ${part(sql, "released")})
      IS DISTINCT FROM (l.captured, l.refunded, a.amount + a.buyer_share + l.open)`,
  sql`SELECT 'an execution is ' || e.settlement_status || ' and its hold ' || coalesce(c.status, 'held') || ': ' || e.execution_id AS what
    FROM executions e LEFT JOIN changed_reservations c USING (authorization_id)
    WHERE (e.settlement_status = 'settled' AND c.status IS DISTINCT FROM 'captured')
      OR (e.settlement_status IN ('pending', 'processing', 'unknown') AND c.status IS DISTINCT FROM 'submitted')`,
  sql`SELECT 'captured without a settlement: ' || c.authorization_id AS what FROM changed_reservations c
    WHERE c.status = 'captured' AND NOT EXISTS (
      SELECT FROM executions e WHERE e.authorization_id = c.authorization_id AND e.settlement_status = 'settled')`,
  sql`SELECT 'settled ' || count(*) || ' times: ' || authorization_id AS what FROM executions
    WHERE settlement_status = 'settled' GROUP BY authorization_id HAVING count(*) > 1`,
  sql`SELECT 'one signed payment for two: ' || nonce AS what FROM executions WHERE settlement_status = 'settled'
    GROUP BY payer, nonce HAVING count(*) > 1`,
  sql`SELECT 'an approval without its hold: ' || p.approval_id AS what FROM checkout_approvals p
    LEFT JOIN authorizations a ON a.authorization_id = p.authorization_id AND a.held AND a.amount + a.buyer_share = p.approved_amount
    WHERE p.status = 'approved' AND a.authorization_id IS NULL`,
  sql`SELECT 'a completed order without a settlement: ' || o.order_id AS what FROM orders o
    LEFT JOIN executions e ON e.execution_id = o.execution_id AND e.settlement_status = 'settled'
    WHERE o.status = 'completed' AND e.execution_id IS NULL`,
];

async function brokenSums(sql: Sql, holds: readonly HoldRow[]): Promise<string[]> {
  const sums = new Map<string, { spent: bigint; reserved: bigint; payments: number }>();
  const add = (name: string, { status, spent, reserved }: HoldRow): void => {
    const sum = sums.get(name) ?? { spent: 0n, reserved: 0n, payments: 0 };
    sum.spent += BigInt(spent);
    sum.reserved += BigInt(reserved);
    if (status !== "released" && status !== "expired") sum.payments += 1;
    sums.set(name, sum);
  };
  for (const hold of holds) {
    add(hold.mandate, hold);
    for (const [key, start] of JSON.parse(hold.buckets ?? "[]") as [string, number][])
      add(`${hold.mandate} ${key} ${start}`, hold);
  }
  const stored = await sql<{ name: string; sum: string; payments: number | null }[]>`
    SELECT mandate_id AS name, spent || '/' || reserved AS sum, NULL::int AS payments FROM mandates
    UNION ALL
    SELECT mandate_id || ' ' || window_key || ' ' || (extract(epoch FROM start) * 1000)::bigint, spent || '/' || reserved, payments
    FROM usage_buckets`;
  const names = new Set(stored.map(({ name }) => name));
  const wrong = stored.flatMap(({ name, sum, payments }) => {
    const found = sums.get(name) ?? { spent: 0n, reserved: 0n, payments: 0 };
    const differs = sum !== `${found.spent}/${found.reserved}` || (payments !== null && payments !== found.payments);
    return differs
      ? [`the sums of ${name}: ${sum} (${payments}), and its holds ${found.spent}/${found.reserved} (${found.payments})`]
      : [];
  });
  return [...wrong, ...[...sums.keys()].filter((name) => !names.has(name)).map((name) => `no sums of ${name}`)];
}

async function lost(sql: Sql, acknowledged: readonly Acknowledgement[]): Promise<string[]> {
  const rows = await sql<{ id: string; mandate: string }[]>`
    SELECT authorization_id AS id, mandate_id AS mandate FROM authorizations WHERE outcome = 'allow'`;
  const stored = new Map(rows.map(({ id, mandate }) => [id, mandate]));
  return acknowledged
    .filter(({ authorizationId, mandateId }) => stored.get(authorizationId) !== mandateId)
    .map(({ authorizationId }) => `an acknowledged payment is lost: ${authorizationId}`);
}

/** All violations in the database. */
export async function violations(sql: Sql, acknowledged: readonly Acknowledgement[]): Promise<string[]> {
  const found: string[] = [];
  for (const rule of rules(sql)) found.push(...(await rule).map(({ what }) => String(what)));
  const holds = await readHolds(sql);
  found.push(...(await brokenSums(sql, holds)), ...(await brokenLimits(sql, holds)));
  return [...found, ...(await lost(sql, acknowledged)), ...(await brokenLogs(sql))];
}
