import { sql } from "drizzle-orm";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { bucketAt, windowsOf, type Window } from "#lib/mandates/policy/windows.ts";
import { parseAmount, UNIT_DECIMALS } from "#lib/money.ts";
import { brokenSums } from "#test/invariants.ts";

/* Computes the invariants of the ledger again from its rows, independently of the stored sums. The text of a violation begins
   with the number of its invariant: 1 limits, 2 sums, 4 one effect for each key, 5 nothing after a revocation, 6 the audit log. */

const USDC_DECIMALS = 6;

type HoldSpan = {
  readonly mandateId: string;
  readonly version: number;
  readonly amount: bigint;
  readonly at: number;
  /** The time at which the reserved amount was released or expired, in milliseconds; Infinity if neither has happened. */
  readonly until: number;
};

type Limits = { readonly perPayment: bigint; readonly total: bigint | null; readonly windows: readonly Window[] };

async function readHolds() {
  const rows = await database().execute<Record<string, string | number | null>>(sql`
    SELECT a.mandate_id, a.policy_version, r.amount, r.status,
      floor(extract(epoch FROM a.created_at) * 1000)::text AS at, floor(extract(epoch FROM r.resolved_at) * 1000)::text AS until
    FROM authorizations a JOIN reservations r USING (authorization_id) ORDER BY a.created_at`);
  return rows.map((row): HoldSpan => {
    const gone = row["status"] === "released" || row["status"] === "expired";
    return {
      mandateId: String(row["mandate_id"]),
      version: Number(row["policy_version"]),
      amount: BigInt(row["amount"] ?? 0),
      at: Number(row["at"]),
      until: gone ? Number(row["until"]) : Number.POSITIVE_INFINITY,
    };
  });
}

async function readLimits(): Promise<ReadonlyMap<string, Limits>> {
  const rows = await database().execute<{ mandate_id: string; version: number; policy: Policy }>(sql`
    SELECT mandate_id, version, policy FROM mandate_versions`);
  return new Map(
    rows.map(({ mandate_id, version, policy }) => {
      const { perPayment, total } = policy.limits;
      const decimals = policy.unit === undefined ? USDC_DECIMALS : UNIT_DECIMALS;
      const limits = {
        perPayment: parseAmount(perPayment, decimals),
        total: total === undefined ? null : parseAmount(total, decimals),
        windows: windowsOf(policy, decimals),
      };
      return [`${mandate_id} ${version}`, limits];
    }),
  );
}

function inWindow(window: Window, one: HoldSpan, now: number): boolean {
  if (window.kind === "rolling") return one.at > now - window.spanMs;
  return bucketAt(window, new Date(one.at)).start.getTime() === bucketAt(window, new Date(now)).start.getTime();
}

/**
 * Invariant 1: whenever a payment reserved an amount, the sum of all reserved and spent amounts was within every limit of the
 * policy version that decided it.
 */
async function overspent(): Promise<string[]> {
  const limits = await readLimits();
  const broken: string[] = [];
  for (const [mandateId, holds] of Map.groupBy(await readHolds(), (one) => one.mandateId)) {
    for (const hold of holds) {
      const { perPayment, total, windows } = limits.get(`${mandateId} ${hold.version}`)!;
      const counted = holds.filter((one) => one.at <= hold.at && one.until > hold.at);
      const sum = (some: readonly HoldSpan[]) => some.reduce((used, { amount }) => used + amount, 0n);
      const note = (what: string) => broken.push(`1: ${mandateId} version ${hold.version} at ${hold.at}: ${what}`);
      if (hold.amount > perPayment) note("per payment");
      if (total !== null && sum(counted) > total) note("total");
      for (const window of windows) {
        const inside = counted.filter((one) => inWindow(window, one, hold.at));
        if (window.limit !== undefined && sum(inside) > window.limit) note(window.key);
        if (window.max !== undefined && inside.length > window.max) note(`count ${window.key}`);
      }
    }
  }
  return broken;
}

/**
 * Checks invariants 4, 5 and 6 and parts of 1 and 2 with SQL. The events of an audit chain are numbered in the order of the
 * commits.
 */
async function brokenRows(): Promise<string[]> {
  const rows = await database().execute<{ what: string }>(sql`
    SELECT '4: two effects of one key: ' || slot AS what FROM authorizations GROUP BY slot HAVING count(*) > 1
    UNION ALL
    SELECT '4: a hold without its authorization: ' || r.authorization_id FROM reservations r
      LEFT JOIN authorizations a USING (authorization_id) WHERE a.held IS NOT TRUE
    UNION ALL
    SELECT '4: an authorization without its hold: ' || a.authorization_id FROM authorizations a
      LEFT JOIN reservations r USING (authorization_id) WHERE (a.outcome = 'allow' OR a.held) AND r.authorization_id IS NULL
    UNION ALL
    SELECT '5: ' || a.type || ' after ' || r.type || ': ' || a.entity_id FROM audit_events r JOIN audit_events a
      ON a.chain = r.chain AND a.sequence > r.sequence AND a.type IN ('payment.authorized', 'payment.approvalRequired', 'payment.submitted')
      WHERE (r.type = 'mandate.revoked' AND a.metadata ->> 'mandateId' = r.entity_id)
        OR (r.type = 'serviceAccount.revoked' AND a.subject_id = r.entity_id)
    UNION ALL
    SELECT '6: ' || count(e.entity_id) || ' events of ' || a.authorization_id FROM authorizations a LEFT JOIN audit_events e
      ON e.entity_id = a.authorization_id AND e.chain = a.organization_id AND e.type =
        CASE a.outcome WHEN 'allow' THEN 'payment.authorized' WHEN 'deny' THEN 'payment.denied' ELSE 'payment.approvalRequired' END
      GROUP BY a.authorization_id HAVING count(e.entity_id) <> 1
    UNION ALL
    SELECT '6: an event of nothing: ' || e.entity_id FROM audit_events e LEFT JOIN authorizations a ON a.authorization_id = e.entity_id
      WHERE e.entity_type = 'authorization' AND a.authorization_id IS NULL
    UNION ALL
    SELECT '1: above the limit on chain: ' || s.registration_id || ' ' || s.period FROM registration_slots s
      JOIN mandate_registrations r USING (registration_id) WHERE s.status <> 'free'
      GROUP BY s.registration_id, s.period, r.registration_id
      HAVING sum(s.amount) > r.period_limit OR max(s.amount) > r.per_payment_limit OR max(s.slot) >= r.max_payments_per_period`);
  return rows.map(({ what }) => what);
}

async function brokenChains(): Promise<string[]> {
  const heads = await database().execute<{ chain: string }>(sql`SELECT chain FROM audit_heads`);
  const broken: string[] = [];
  // One after another: all at once, they would wait for the few connections of the pool longer than it allows.
  for (const { chain } of heads) {
    const { valid, firstBad } = await verifyChain(chain);
    if (!valid) broken.push(`6: ${chain} ${JSON.stringify(firstBad)}`);
  }
  return broken;
}

/** The violations of invariants 1, 2, 4, 5 and 6 in the whole database. */
export async function brokenInvariants(): Promise<readonly string[]> {
  const sums = (await brokenSums()).map((row) => `2: ${JSON.stringify(row)}`);
  return [...sums, ...(await overspent()), ...(await brokenRows()), ...(await brokenChains())];
}
