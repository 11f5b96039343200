import type { ReservedSql, Row } from "postgres";
import { selectFeeBasis } from "#lib/billing/store.ts";
import { approvalFacts, lockCheckouts, storedReplies } from "#lib/commerce/list-store.ts";
import { GATE } from "#lib/db/gate.ts";
import { outboundLoopback } from "#lib/env.ts";
import type { Item } from "#lib/payments/item.ts";
import { namedSeller, readOffer, unregisteredPayee, type Offer } from "#lib/payments/unregistered.ts";
import { canonicalDomain } from "#lib/sellers/domain.ts";

/*
 * Each statement walks the list and finds its rows one by one: unnest, then LATERAL … LIMIT 1 on the one index that fits.
 * A join that the planner may turn round, or = ANY, would with a plan made while the tables were young scan a whole
 * table for ever, and the cost of a list would grow with history.
 */

/** Own mandates only, locked in the order of their ids. */
const mandatesOf = (c: ReservedSql, environment: string, mandateIds: readonly string[], organizations: readonly string[]) => c`
  SELECT m.* FROM unnest(${mandateIds}::text[]) AS w(mandate_id), LATERAL (
    SELECT mandate_id, organization_id, status, version, asset, chain, agents, spent, reserved, last_held_at FROM mandates
    WHERE mandate_id = w.mandate_id AND environment = ${environment} AND organization_id = ANY(${organizations}::text[])
    LIMIT 1 FOR NO KEY UPDATE) m`;

/** The same without a lock, for what is only simulated. */
const mandatesToRead: typeof mandatesOf = (c, environment, mandateIds, organizations) => c`
  SELECT m.* FROM unnest(${mandateIds}::text[]) AS w(mandate_id), LATERAL (
    SELECT mandate_id, organization_id, status, version, asset, chain, agents, spent, reserved, last_held_at FROM mandates
    WHERE mandate_id = w.mandate_id AND environment = ${environment} AND organization_id = ANY(${organizations}::text[]) LIMIT 1) m`;

const liveKeys = (c: ReservedSql, keyIds: readonly string[]) => c`
  SELECT k.key_id, a.organization_id, a.capabilities
  FROM unnest(${keyIds}::text[]) AS w(key_id),
    LATERAL (SELECT key_id, service_account_id FROM api_keys
      WHERE key_id = w.key_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) LIMIT 1) k,
    LATERAL (SELECT organization_id, capabilities FROM service_accounts
      WHERE service_account_id = k.service_account_id AND revoked_at IS NULL LIMIT 1) a`;

const liveSessions = (c: ReservedSql, sessionIds: readonly string[], organizations: readonly string[]) => c`
  SELECT s.id AS session_id, m.organization_id, m.role
  FROM unnest(${sessionIds}::text[]) AS w(id),
    LATERAL (SELECT id, user_id FROM session WHERE id = w.id AND expires_at > clock_timestamp() LIMIT 1) s,
    LATERAL (SELECT id FROM "user" WHERE id = s.user_id AND (NOT banned OR ban_expires <= clock_timestamp()) LIMIT 1) u,
    unnest(${organizations}::text[]) AS o(id),
    LATERAL (SELECT organization_id, role FROM member WHERE organization_id = o.id AND user_id = u.id LIMIT 1) m`;

const sellersOf = (c: ReservedSql, sellerIds: readonly string[]) => c`
  SELECT s.* FROM unnest(${sellerIds}::text[]) AS w(seller_id), LATERAL (
    SELECT seller_id, organization_id, name, domain, verified, stopped_at, minimum_assurance_level FROM sellers
    WHERE seller_id = w.seller_id LIMIT 1) s`;

/** Whose domain it is, if anybody verified it: that seller's record and rules apply, whoever forgot to name it. A stopped seller's counts too. */
const sellersAtDomains = (c: ReservedSql, domains: readonly string[]) => c`
  SELECT s.* FROM unnest(${domains}::text[]) AS w(domain), LATERAL (
    SELECT seller_id, domain FROM sellers WHERE domain = w.domain AND (verified OR stopped_at IS NOT NULL) ORDER BY verified DESC, seller_id LIMIT 1) s`;

const resourcesOf = (c: ReservedSql, { sellerIds, resourceIds }: SellerPairs) => c`
  SELECT r.* FROM unnest(${sellerIds}::text[], ${resourceIds}::text[]) AS w(seller_id, resource_id), LATERAL (
    SELECT seller_id, resource_id, method, path_template, description, pricing, accepted_payment_challenge_types,
      minimum_assurance_level, payment_config FROM resources
    WHERE seller_id = w.seller_id AND resource_id = w.resource_id AND archived_at IS NULL AND payment_config IS NOT NULL LIMIT 1) r`;

/** The policies that apply. Versions never change, so those that this process has compiled are not asked for. */
const policiesOf = (c: ReservedSql, mandateIds: readonly string[]) => c`
  SELECT m.mandate_id, v.policy FROM unnest(${mandateIds}::text[]) AS w(mandate_id),
    LATERAL (SELECT mandate_id, version FROM mandates WHERE mandate_id = w.mandate_id LIMIT 1) m,
    LATERAL (SELECT policy FROM mandate_versions WHERE mandate_id = m.mandate_id AND version = m.version LIMIT 1) v`;

/**
 * At most sixty parts count in each of eight windows. Also what ended within the last minute: the decision looks at a time that was
 * read a few statements ago. A scalar subquery, because no index serves a comparison with a volatile function.
 */
const bucketsOf = (c: ReservedSql, mandateIds: readonly string[]) => c`
  SELECT b.* FROM unnest(${mandateIds}::text[]) AS w(mandate_id), LATERAL (
    SELECT mandate_id, window_key, start, live_until, spent, reserved, payments FROM usage_buckets
    WHERE mandate_id = w.mandate_id AND live_until > (SELECT clock_timestamp() - interval '1 minute') OFFSET 0) b`;

type Asked = {
  readonly slots: readonly string[];
  readonly intents: readonly string[];
  readonly nonces: readonly string[];
  readonly mandateIds: readonly string[];
  readonly paid: MandatePairs;
};

/**
 * What was before, in one statement, because each costs more than what it finds: answers that are stored under the slots of the list,
 * which of its intents and nonces were used, which of its sellers were paid, and the approvals that are open.
 */
const whatWasBefore = (c: ReservedSql, { slots, intents, nonces, mandateIds, paid }: Asked) => c`
  SELECT 'slot' AS what, a.* FROM unnest(${slots}::text[]) AS w(slot), LATERAL (
    SELECT mandate_id, slot AS name, fingerprint, answer, null AS checkout_intent_id FROM authorizations WHERE slot = w.slot LIMIT 1) a
  UNION ALL SELECT 'intent', a.*, null, null, null FROM unnest(${intents}::text[]) AS w(pair), LATERAL (
    SELECT mandate_id, intent_id FROM authorizations
    WHERE (mandate_id || ' ' || intent_id) = w.pair AND outcome <> 'deny' LIMIT 1) a
  UNION ALL SELECT 'nonce', a.*, null, null, null FROM unnest(${nonces}::text[]) AS w(pair), LATERAL (
    SELECT mandate_id, nonce FROM authorizations
    WHERE (mandate_id || ' ' || nonce) = w.pair AND outcome <> 'deny' LIMIT 1) a
  UNION ALL SELECT 'paid', p.*, null, null, null FROM unnest(${paid.mandateIds}::text[], ${paid.paidIds}::text[]) AS w(mandate_id, seller_id),
    LATERAL (SELECT mandate_id, seller_id FROM mandate_sellers WHERE mandate_id = w.mandate_id AND seller_id = w.seller_id LIMIT 1) p
  UNION ALL SELECT 'approval', r.mandate_id, r.approval_key, null, null, k.checkout_intent_id
    FROM unnest(${mandateIds}::text[]) AS w(mandate_id), LATERAL (
      SELECT mandate_id, approval_key, authorization_id FROM reservations
      WHERE mandate_id = w.mandate_id AND status = 'held' AND approval_key IS NOT NULL AND expires_at > clock_timestamp() OFFSET 0) r
    LEFT JOIN LATERAL (SELECT checkout_intent_id FROM checkout_intents WHERE authorization_id = r.authorization_id LIMIT 1) k ON true`;

/** Everything that decisions of a list look at, read under the locks. */
export type Loaded = {
  readonly now: Date;
  readonly mandates: readonly Row[];
  /** Of items that name no registered seller: what their challenges say, and who verified its domain. */
  readonly offers: ReadonlyMap<Item, Offer>;
  readonly atDomains: ReadonlyMap<string, string>;
  /** `what` says which: a stored answer by its slot, a used intent or nonce, a paid seller, an open approval, each with its name. */
  readonly before: readonly Row[];
  readonly keys: readonly Row[];
  readonly sessions: readonly Row[];
  readonly sellers: readonly Row[];
  readonly resources: readonly Row[];
  readonly policies: readonly Row[];
  readonly buckets: readonly Row[];
  readonly feeBasis: readonly Row[];
  /** Of items that bring more: their checkouts with what an approval looks at, and replies. */
  readonly checkouts: readonly Row[];
  readonly replies: readonly Row[];
};

/** Sends statements without waiting in between; the first failure is the one that counts. */
export async function pipelined<const Q extends readonly PromiseLike<unknown>[]>(
  queries: Q,
): Promise<{ [K in keyof Q]: Awaited<Q[K]> }> {
  const results = await Promise.allSettled(queries);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as { [K in keyof Q]: Awaited<Q[K]> };
}

type SellerPairs = { readonly sellerIds: readonly string[]; readonly resourceIds: readonly string[] };
type MandatePairs = { readonly mandateIds: readonly string[]; readonly paidIds: readonly string[] };

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Null where no record is named, and none exists for the domain that the challenge names. */
const sellerOf = (item: Item, { offers, atDomains }: Pick<Loaded, "offers" | "atDomains">): string | null =>
  namedSeller(item.intent) ?? atDomains.get(offers.get(item)?.domain ?? "") ?? null;

/** The two columns of distinct pairs. The first ids have no spaces. */
function columnsOf(pairs: readonly string[]): readonly [string[], string[]] {
  const distinct = unique(pairs);
  const spaces = distinct.map((pair) => pair.indexOf(" "));
  return [
    distinct.map((pair, index) => pair.slice(0, spaces[index])),
    distinct.map((pair, index) => pair.slice(spaces[index]! + 1)),
  ];
}

/** How a seller's host is stored, if it can be one. */
export function sellerDomainOf(host: string): string | null {
  const read = canonicalDomain(host, outboundLoopback());
  return read.ok ? read.domain : null;
}

/** Read once for each item that names no registered seller; every other costs nothing. */
function offersOf(items: readonly Item[]): ReadonlyMap<Item, Offer> {
  const offers = new Map<Item, Offer>();
  for (const item of items) {
    if (item.intent.challenge === undefined || namedSeller(item.intent) !== null) continue;
    const offer = readOffer(item.intent.challenge, sellerDomainOf);
    if (offer) offers.set(item, offer);
  }
  return offers;
}

/** The checkouts of items that bring more, each with the session that asks, and the slots of their replies. */
function broughtBy(items: readonly Item[]) {
  const asked = items.flatMap(({ also, asker }) =>
    also?.checkoutIntentId ? [{ id: also.checkoutIntentId, sessionId: asker.kind === "session" ? asker.sessionId : "" }] : [],
  );
  return {
    checkouts: asked.map(({ id }) => id),
    sessionIds: asked.map(({ sessionId }) => sessionId),
    slots: items.map((item) => item.slot),
  };
}

/** What a list asks for, each id once; mandates in the order in which they are locked. */
function idsOf(items: readonly Item[], asked: Pick<Loaded, "offers" | "atDomains">) {
  const askers = items.map((item) => item.asker);
  const sellers = new Map(items.map((item) => [item, sellerOf(item, asked)]));
  const [ofSeller, resourceIds] = columnsOf(
    items.flatMap((item) => (item.intent.resource ? [`${sellers.get(item)} ${item.intent.resource.resourceId}`] : [])),
  );
  const [ofMandate, paidIds] = columnsOf(
    items.map(
      (item) => `${item.mandateId} ${sellers.get(item) ?? unregisteredPayee(asked.offers.get(item)?.domain, item.intent.payTo)}`,
    ),
  );
  return {
    mandateIds: unique(items.map((item) => item.mandateId)).toSorted(),
    organizations: unique(items.map((item) => item.organizationId)),
    keyIds: unique(askers.flatMap((asker) => (asker.kind === "key" ? [asker.keyId] : []))),
    sessionIds: unique(askers.flatMap((asker) => (asker.kind === "session" ? [asker.sessionId] : []))),
    sellerIds: unique([...sellers.values()].filter((sellerId) => sellerId !== null)),
    offered: { sellerIds: ofSeller, resourceIds },
    paid: { mandateIds: ofMandate, paidIds },
    intents: unique(items.map((item) => `${item.mandateId} ${item.intent.intentId}`)),
    nonces: unique(items.map((item) => `${item.mandateId} ${item.intent.nonce}`)),
    slots: items.map((item) => item.slot),
    brought: broughtBy(items.filter((item) => item.also)),
  };
}

const nothing: Promise<readonly Row[]> = Promise.resolve([]);

/** After the gate, and one trip more: only a list with a challenge makes it. */
async function verifiedSellers(c: ReservedSql, offers: Loaded["offers"]): Promise<Loaded["atDomains"]> {
  const domains = unique([...offers.values()].flatMap(({ domain }) => domain ?? []));
  if (domains.length === 0) return new Map();
  const rows: readonly Row[] = await sellersAtDomains(c, domains);
  return new Map(rows.map((row) => [row["domain"] as string, row["seller_id"] as string]));
}

type Known = ReadonlyMap<string, { readonly version: number }>;

/** Mandates at another version than this process knows: their policies cost a trip more, once. */
const changedSince = (known: Known, mandates: readonly Row[]): string[] =>
  mandates.flatMap(({ mandate_id: id, version }) =>
    (known.get(id as string)?.version ?? version) === version ? [] : [id as string],
  );

const loadBrought = (c: ReservedSql, { checkouts, sessionIds, slots }: ReturnType<typeof broughtBy>, organizations: string[]) =>
  pipelined([
    checkouts.length > 0 ? approvalFacts(c, { ids: checkouts, sessionIds }, organizations) : nothing,
    slots.length > 0 ? storedReplies(c, slots) : nothing,
  ]);

/** One snapshot, without the gate and without a lock: nobody waits for a simulation. */
const beginToRead = (c: ReservedSql) => [c`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`, nothing] as const;
const beginToWrite = (c: ReservedSql) => [c`BEGIN`, c`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`] as const;

/** Trip 1: the gate, the mandates' locks, the clock, then the facts. Statuses are read after the gate and the clock after the locks. */
export async function openAndLoad(
  c: ReservedSql,
  items: readonly Item[],
  known: Known,
  purpose: "write" | "read" = "write",
): Promise<Loaded> {
  const offers = offersOf(items);
  const begun = pipelined(purpose === "write" ? beginToWrite(c) : beginToRead(c));
  const atDomains = offers.size > 0 ? (await pipelined([begun, verifiedSellers(c, offers)]))[1] : new Map<string, string>();
  const ids = idsOf(items, { offers, atDomains });
  const { mandateIds, organizations, sessionIds } = ids;
  const unknown = mandateIds.filter((mandateId) => !known.has(mandateId));
  const { checkouts } = ids.brought;
  const locked = pipelined([
    (purpose === "write" ? mandatesOf : mandatesToRead)(c, items[0]!.environment, mandateIds, organizations),
    checkouts.length > 0 ? lockCheckouts(c, checkouts.toSorted(), organizations) : nothing,
    c`SELECT clock_timestamp() AS now`,
  ]);
  const asked = pipelined([
    whatWasBefore(c, ids),
    liveKeys(c, ids.keyIds),
    sessionIds.length > 0 ? liveSessions(c, sessionIds, organizations) : nothing,
  ]);
  const offered = pipelined([
    sellersOf(c, ids.sellerIds),
    resourcesOf(c, ids.offered),
    selectFeeBasis(c, organizations, ids.sellerIds),
  ]);
  const limiting = pipelined([unknown.length > 0 ? policiesOf(c, unknown) : nothing, bucketsOf(c, mandateIds)]);
  const further = loadBrought(c, ids.brought, organizations);
  const [, [mandates, , clock], first, second, third, fourth] = await pipelined([
    begun,
    locked,
    asked,
    offered,
    limiting,
    further,
  ]);
  const [before, keys, sessions] = first;
  const [sellers, resources, feeBasis] = second;
  const [policies, buckets] = third;
  const changed = changedSince(known, mandates);
  const now = (clock as readonly Row[])[0]!["now"] as Date;
  return {
    now,
    mandates,
    offers,
    atDomains,
    before,
    keys,
    sessions,
    sellers,
    resources,
    policies: changed.length > 0 ? [...policies, ...(await policiesOf(c, changed))] : policies,
    buckets,
    feeBasis,
    checkouts: fourth[0],
    replies: fourth[1],
  };
}
