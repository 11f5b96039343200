import type { ReservedSql, Row } from "postgres";
import { selectFeeBasis } from "#lib/billing/store.ts";
import { GATE } from "#lib/db/gate.ts";
import type { Item } from "#lib/payments/item.ts";

type PairColumns = readonly [readonly string[], readonly string[]];

/** Pairs as two arrays for unnest, each pair once. */
function pairs(values: Iterable<readonly [string, string]>): PairColumns {
  const once = new Map<string, readonly [string, string]>();
  for (const pair of values) once.set(`${pair[0]} ${pair[1]}`, pair);
  return [[...once.values()].map(([first]) => first), [...once.values()].map(([, second]) => second)];
}

function* sellerPairs(items: readonly Item[]): Generator<readonly [string, string]> {
  for (const { intent } of items) {
    const sellerId = intent.seller.sellerId ?? intent.resource?.sellerId;
    if (sellerId !== undefined && intent.resource) yield [sellerId, intent.resource.resourceId];
  }
}

const mandateOf = (c: ReservedSql, items: readonly Item[]) => {
  const [organizations, ids] = pairs(items.map((item) => [item.organizationId, item.mandateId] as const));
  return c`
    SELECT m.mandate_id, m.organization_id, m.status, m.version, m.asset, m.chain, m.agents, m.spent, m.reserved, m.ceiling, m.last_held_at
    FROM mandates m JOIN unnest(${organizations}::text[], ${ids}::text[]) AS w(organization_id, mandate_id)
      ON m.mandate_id = w.mandate_id AND m.organization_id = w.organization_id
    WHERE m.environment = ${items[0]!.environment}
    ORDER BY m.mandate_id FOR NO KEY UPDATE OF m`;
};

const liveKeys = (c: ReservedSql, keyIds: readonly string[]) => c`
  SELECT k.key_id, a.service_account_id, a.organization_id, a.capabilities
  FROM api_keys k JOIN service_accounts a USING (service_account_id)
  WHERE k.key_id = ANY(${keyIds}::text[]) AND k.revoked_at IS NULL AND a.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`;

const liveSessions = (c: ReservedSql, sessionIds: readonly string[]) => c`
  SELECT s.id AS session_id, s.user_id, m.organization_id, m.role
  FROM session s JOIN "user" u ON u.id = s.user_id JOIN member m ON m.user_id = s.user_id
  WHERE s.id = ANY(${sessionIds}::text[]) AND s.expires_at > clock_timestamp()
    AND (NOT u.banned OR u.ban_expires <= clock_timestamp())`;

const sellersOf = (c: ReservedSql, sellerIds: readonly string[]) => c`
  SELECT seller_id, organization_id, name, domain, verified, minimum_assurance_level FROM sellers WHERE seller_id = ANY(${sellerIds}::text[])`;

const resourcesOf = (c: ReservedSql, [sellerIds, resourceIds]: PairColumns) => c`
  SELECT r.seller_id, r.resource_id, r.method, r.path_template, r.description, r.pricing, r.accepted_payment_challenge_types,
    r.minimum_assurance_level, r.payment_config
  FROM resources r JOIN unnest(${sellerIds}::text[], ${resourceIds}::text[]) AS w(seller_id, resource_id)
    ON r.seller_id = w.seller_id AND r.resource_id = w.resource_id
  WHERE r.archived_at IS NULL AND r.payment_config IS NOT NULL`;

/** Versions never change, so those that this process has compiled are left out. */
const policiesOf = (c: ReservedSql, mandateIds: readonly string[], known: PairColumns) => c`
  SELECT v.mandate_id, v.version, v.policy FROM mandates m JOIN mandate_versions v ON v.mandate_id = m.mandate_id AND v.version = m.version
  WHERE m.mandate_id = ANY(${mandateIds}::text[]) AND NOT EXISTS (
    SELECT 1 FROM unnest(${known[0]}::text[], ${known[1]}::int[]) AS k(mandate_id, version)
    WHERE k.mandate_id = v.mandate_id AND k.version = v.version)`;

const bucketsOf = (c: ReservedSql, mandateIds: readonly string[]) => c`
  SELECT mandate_id, window_key, start, live_until, spent, reserved, payments FROM usage_buckets
  WHERE mandate_id = ANY(${mandateIds}::text[]) AND live_until > clock_timestamp()`;

const knownIntents = (c: ReservedSql, [mandateIds, intentIds]: PairColumns) => c`
  SELECT a.mandate_id, a.intent_id FROM authorizations a JOIN unnest(${mandateIds}::text[], ${intentIds}::text[]) AS w(mandate_id, intent_id)
    ON a.mandate_id = w.mandate_id AND a.intent_id = w.intent_id
  WHERE a.outcome <> 'deny'`;

const knownNonces = (c: ReservedSql, [mandateIds, nonces]: PairColumns) => c`
  SELECT a.mandate_id, a.nonce FROM authorizations a JOIN unnest(${mandateIds}::text[], ${nonces}::text[]) AS w(mandate_id, nonce)
    ON a.mandate_id = w.mandate_id AND a.nonce = w.nonce
  WHERE a.outcome <> 'deny'`;

const paidSellers = (c: ReservedSql, [mandateIds, sellerIds]: PairColumns) => c`
  SELECT p.mandate_id, p.seller_id FROM mandate_sellers p JOIN unnest(${mandateIds}::text[], ${sellerIds}::text[]) AS w(mandate_id, seller_id)
    ON p.mandate_id = w.mandate_id AND p.seller_id = w.seller_id`;

const openApprovals = (c: ReservedSql, mandateIds: readonly string[]) => c`
  SELECT mandate_id, approval_key FROM reservations
  WHERE mandate_id = ANY(${mandateIds}::text[]) AND status = 'held' AND approval_key IS NOT NULL AND expires_at > clock_timestamp()`;

const storedReplies = (c: ReservedSql, slots: readonly string[]) => c`
  SELECT slot, fingerprint, status, body FROM idempotency WHERE slot = ANY(${slots}::text[])`;

/** Everything that decisions of a list look at, read under the locks. */
export type Loaded = {
  readonly now: Date;
  readonly mandates: readonly Row[];
  readonly stored: readonly Row[];
  readonly keys: readonly Row[];
  readonly sessions: readonly Row[];
  readonly sellers: readonly Row[];
  readonly resources: readonly Row[];
  readonly policies: readonly Row[];
  readonly buckets: readonly Row[];
  readonly intents: readonly Row[];
  readonly nonces: readonly Row[];
  readonly paid: readonly Row[];
  readonly approvals: readonly Row[];
  readonly feeBasis: readonly Row[];
};

/** Sends statements without waiting in between; the first failure is the one that counts. */
export async function pipelined<const Q extends readonly PromiseLike<unknown>[]>(
  queries: Q,
): Promise<{ [K in keyof Q]: Awaited<Q[K]> }> {
  const results = await Promise.allSettled(queries);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as { [K in keyof Q]: Awaited<Q[K]> };
}

/** Trip 1: the gate, the mandates' locks, the clock, then the facts. Statuses are read after the gate and the clock after the locks. */
export async function openAndLoad(
  c: ReservedSql,
  items: readonly Item[],
  known: ReadonlyMap<string, { readonly version: number }>,
): Promise<Loaded> {
  const mandateIds = [...new Set(items.map((item) => item.mandateId))];
  const compiled = [...known].map(([mandateId, { version }]) => [mandateId, String(version)] as const);
  const keyIds = new Set(items.flatMap(({ asker }) => (asker.kind === "key" ? [asker.keyId] : [])));
  const sessionIds = new Set(items.flatMap(({ asker }) => (asker.kind === "session" ? [asker.sessionId] : [])));
  const sellers = pairs(sellerPairs(items));
  const sellerIds = new Set(items.flatMap(({ intent }) => intent.seller.sellerId ?? intent.resource?.sellerId ?? []));
  const bySeller = pairs(
    items.map((item) => [item.mandateId, item.intent.seller.sellerId ?? item.intent.resource?.sellerId ?? ""] as const),
  );
  const [
    ,
    ,
    mandates,
    clock,
    stored,
    keys,
    sessions,
    sellerRows,
    resources,
    policies,
    buckets,
    intents,
    nonces,
    paid,
    approvals,
    feeBasis,
  ] = await pipelined([
    c`BEGIN`,
    c`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`,
    mandateOf(c, items),
    c`SELECT clock_timestamp() AS now`,
    storedReplies(
      c,
      items.map((item) => item.slot),
    ),
    liveKeys(c, [...keyIds]),
    sessionIds.size > 0 ? liveSessions(c, [...sessionIds]) : Promise.resolve([]),
    sellersOf(c, [...sellerIds]),
    resourcesOf(c, sellers),
    policiesOf(c, mandateIds, pairs(compiled)),
    bucketsOf(c, mandateIds),
    knownIntents(c, pairs(items.map((item) => [item.mandateId, item.intent.intentId] as const))),
    knownNonces(c, pairs(items.map((item) => [item.mandateId, item.intent.nonce] as const))),
    paidSellers(c, bySeller),
    openApprovals(c, mandateIds),
    selectFeeBasis(c, [...new Set(items.map((item) => item.organizationId))], [...sellerIds]),
  ]);
  const now = (clock as readonly Row[])[0]!["now"] as Date;
  return {
    now,
    mandates,
    stored,
    keys,
    sessions,
    sellers: sellerRows,
    resources,
    policies,
    buckets,
    intents,
    nonces,
    paid,
    approvals,
    feeBasis,
  };
}
