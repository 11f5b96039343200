import type { PendingQuery, Row } from "postgres";
import { approvalFacts, lockCheckouts, storedReplies } from "#lib/approvals/decision/batch-store.ts";
import type { Sql } from "#lib/db/sql.ts";
import { selectFeeBasis } from "#lib/billing/store.ts";
import { joined } from "#lib/db/bulk.ts";
import { GATE } from "#lib/command/gate-store.ts";
import { live, roleOf } from "#lib/identity/live-store.ts";
import type { WantedOffer } from "#lib/sellers/seen-offer-store.ts";
import { stopOver } from "#lib/sellers/stop-store.ts";

/*
 * Rows are found by LATERAL with LIMIT 1 or OFFSET 0, so that the one index that fits is used. With = ANY or a join that the
 * planner can reorder, a plan that was made while the tables were small could scan a whole table.
 */

/** A separate statement locks the gate, so that later statements see every revocation that was committed before. */
export const beginToWrite = (c: Sql) => c.unsafe(`BEGIN; SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);

export type Locks = {
  readonly environment: string;
  readonly mandateIds: readonly string[];
  readonly organizations: readonly string[];
  readonly checkoutIds: readonly string[];
  readonly approverIds: readonly string[];
};

const mandatesOf = (c: Sql, { environment, mandateIds, organizations }: Locks, lock: PendingQuery<Row[]>) => c`
  SELECT m.* FROM unnest(${mandateIds}::text[]) AS w(mandate_id), LATERAL (
    SELECT mandate_id, organization_id, status, version, asset, chain, agents, spent::text, reserved::text, last_held_at FROM mandates
    WHERE mandate_id = w.mandate_id AND environment = ${environment} AND organization_id = ANY(${organizations}::text[])
    LIMIT 1 ${lock}) m`;

/** Locks the mandates in the order of `mandateIds`, which must be sorted. */
export const lockMandates = (c: Sql, locks: Locks) => mandatesOf(c, locks, c`FOR NO KEY UPDATE`);

/** The second locking subquery reads the count of the first, so PostgreSQL locks mandates, then checkouts. */
export const lockWithCheckouts = (c: Sql, locks: Locks, payees: Pairs) => c`
  WITH locked AS MATERIALIZED (${lockMandates(c, locks)}),
    checkouts AS MATERIALIZED (SELECT k.* FROM (SELECT count(*) AS mandates FROM locked) AS before,
      LATERAL (${lockCheckouts(c, locks.checkoutIds, locks.organizations, c`before.mandates >= 0`)}) k)
  SELECT 'mandate' AS what, row_to_json(locked) AS row FROM locked
  UNION ALL SELECT 'locked', NULL FROM checkouts
  UNION ALL SELECT 'payee', row_to_json(p) FROM (${sellersAtDomains(c, payees)}) p`;

/** The record and the rules of the seller that verified a domain apply even if the intent does not name the seller. */
export const sellersAtDomains = (c: Sql, { of: domains, ids: payTos }: Pairs) => c`
  SELECT w.domain, w.pay_to, s.seller_id,
    s.seller_id IS NULL AND coalesce(${c.unsafe(stopOver.domain("w.domain"))}, ${c.unsafe(stopOver.address("w.pay_to", "NULL"))}) IS NOT NULL AS stopped
  FROM unnest(${domains}::text[], ${payTos}::text[]) AS w(domain, pay_to) LEFT JOIN LATERAL (
    SELECT seller_id FROM sellers WHERE domain = w.domain AND verified ORDER BY seller_id LIMIT 1) s ON true`;

/** The offers that this service itself received in a domain's 402 in the last day. Without an amount, any amount matches. */
export const offersSeen = (c: Sql, wanted: readonly WantedOffer[]) => c`
  SELECT w.number FROM unnest(${wanted.map((_, number) => number)}::int[], ${wanted.map(({ domain }) => domain)}::text[],
      ${wanted.map(({ payTo }) => payTo)}::text[], ${wanted.map(({ chain }) => chain)}::text[],
      ${wanted.map(({ tokenAddress }) => tokenAddress)}::text[], ${wanted.map(({ amount }) => amount?.toString() ?? "")}::text[])
    AS w(number, domain, pay_to, chain, token_address, amount), LATERAL (
      SELECT seen_at FROM seen_offers o WHERE domain = w.domain AND pay_to = w.pay_to AND chain = w.chain
        AND token_address = w.token_address AND o.amount = coalesce(nullif(w.amount, '')::numeric, o.amount)
        AND seen_at > (SELECT clock_timestamp() - interval '1 day') LIMIT 1) s`;

export const unusedWaivers = (c: Sql, mandateIds: readonly string[]) => c`
  SELECT v.* FROM unnest(${mandateIds}::text[]) AS w(mandate_id), LATERAL (
    SELECT waiver_id, mandate_id, policy_version, subject_id, basket_hash, charged::text, pay_to FROM waivers
    WHERE mandate_id = w.mandate_id AND used_by_authorization_id IS NULL AND expires_at > (SELECT clock_timestamp()) OFFSET 0) v`;

export const selectPolicies = (c: Sql, mandateIds: readonly string[]) => c`
  SELECT m.mandate_id, v.policy FROM unnest(${mandateIds}::text[]) AS w(mandate_id),
    LATERAL (SELECT mandate_id, version FROM mandates WHERE mandate_id = w.mandate_id LIMIT 1) m,
    LATERAL (SELECT policy FROM mandate_versions WHERE mandate_id = m.mandate_id AND version = m.version LIMIT 1) v`;

const liveSessions = (c: Sql, sessionIds: readonly string[], organizations: readonly string[]) => c`
  SELECT s.id AS session_id, m.organization_id, m.role
  FROM unnest(${sessionIds}::text[]) AS w(id),
    LATERAL (SELECT id, user_id FROM session WHERE id = w.id AND ${c.unsafe(live.session("session"))} LIMIT 1) s,
    LATERAL (SELECT id FROM "user" WHERE id = s.user_id AND ${c.unsafe(live.person('"user"'))} LIMIT 1) u,
    unnest(${organizations}::text[]) AS o(id),
    LATERAL (SELECT organization_id, role FROM member WHERE organization_id = o.id AND user_id = u.id LIMIT 1) m`;

/** Two columns of equal length: `of` has mandates, sellers, sessions or domains, and `ids` what is looked up under each. */
export type Pairs = { readonly of: readonly string[]; readonly ids: readonly string[] };

export type Query = {
  readonly slots: readonly string[];
  readonly intents: readonly string[];
  readonly nonces: readonly string[];
  readonly mandateIds: readonly string[];
  readonly paid: Pairs;
  readonly keyIds: readonly string[];
  readonly sessionIds: readonly string[];
  readonly sellerIds: readonly string[];
  readonly offered: Pairs;
  readonly organizations: readonly string[];
  /** The idempotency slots of the payments that belong to an approval, a continuation or an order. */
  readonly replies: readonly string[];
  /** The caller's session id (empty for an API key) and the checkout id of each payment that belongs to a checkout. */
  readonly checkouts: Pairs;
};

export type Fact =
  | "mandate"
  | "policy"
  | "payee"
  | "session"
  | "reply"
  | "checkout"
  | "clock"
  | "slot"
  | "intent"
  | "nonce"
  | "paid"
  | "approval"
  | "key"
  | "seller"
  | "resource"
  | "bucket"
  | "fees";

/**
 * Do not use EXISTS for seller_stops: the planner would read the whole table for a batch. Also reads buckets whose live_until
 * passed less than a minute ago, because the decision uses the time of the row `clock`, which is read before them. The interval
 * is a scalar subquery, because PostgreSQL uses no index for a comparison with a volatile function.
 */
export const factsAsked = (c: Sql, asked: Query) => c`
  SELECT 'clock' AS what, to_json(clock_timestamp()) AS row
  UNION ALL SELECT 'slot', row_to_json(a) FROM unnest(string_to_array(${joined(asked.slots)}, chr(1))) AS w(slot), LATERAL (
    SELECT slot, fingerprint, authorization_id, mandate_id, intent_id, outcome, denial_code, held,
      created_at, expires_at, findings FROM authorizations WHERE slot = w.slot LIMIT 1) a
  UNION ALL SELECT 'intent', row_to_json(a) FROM unnest(string_to_array(${joined(asked.intents)}, chr(1))) AS w(pair), LATERAL (
    SELECT mandate_id, intent_id AS name FROM authorizations
    WHERE hashtextextended(mandate_id || ' ' || intent_id, 0) = hashtextextended(w.pair, 0)
      AND hashtextextended(mandate_id || ' ' || intent_id, 1) = hashtextextended(w.pair, 1)
      AND mandate_id || ' ' || intent_id = w.pair AND outcome <> 'deny' LIMIT 1) a
  UNION ALL SELECT 'nonce', row_to_json(a) FROM unnest(string_to_array(${joined(asked.nonces)}, chr(1))) AS w(pair), LATERAL (
    SELECT mandate_id, nonce AS name FROM authorizations
    WHERE hashtextextended(mandate_id || ' ' || nonce, 0) = hashtextextended(w.pair, 0)
      AND hashtextextended(mandate_id || ' ' || nonce, 1) = hashtextextended(w.pair, 1)
      AND mandate_id || ' ' || nonce = w.pair AND outcome <> 'deny' LIMIT 1) a
  UNION ALL SELECT 'paid', row_to_json(p) FROM unnest(string_to_array(${joined(asked.paid.of)}, chr(1)),
      string_to_array(${joined(asked.paid.ids)}, chr(1))) AS w(mandate_id, seller_id),
    LATERAL (SELECT mandate_id, seller_id AS name FROM mandate_sellers WHERE mandate_id = w.mandate_id AND seller_id = w.seller_id LIMIT 1) p
  UNION ALL SELECT 'approval', json_build_object('mandate_id', r.mandate_id, 'name', r.approval_key, 'checkout_intent_id', k.checkout_intent_id,
      'authorization_id', r.authorization_id, 'subject_id', k.owner_subject_id)
    FROM unnest(string_to_array(${joined(asked.mandateIds)}, chr(1))) AS w(mandate_id), LATERAL (
      SELECT mandate_id, approval_key, authorization_id FROM changed_reservations
      WHERE mandate_id = w.mandate_id AND status = 'held' AND approval_key IS NOT NULL AND expires_at > clock_timestamp() OFFSET 0) r
    LEFT JOIN LATERAL (SELECT checkout_intent_id, owner_subject_id FROM checkout_intents
      WHERE authorization_id = r.authorization_id LIMIT 1) k ON true
  UNION ALL SELECT 'key', json_build_object('key_id', k.key_id, 'organization_id', a.organization_id, 'capabilities', a.capabilities,
      'paused', a.paused_at IS NOT NULL, 'by_token', k.by_token, 'role', CASE WHEN k.by_token THEN ${c.unsafe(roleOf("a.organization_id", "k.created_by"))} END)
    FROM unnest(string_to_array(${joined(asked.keyIds)}, chr(1))) AS w(key_id),
    LATERAL (SELECT key_id, service_account_id, created_by, client_id IS NOT NULL AND secret_hash = '' AS by_token FROM api_keys
      WHERE key_id = w.key_id AND ${c.unsafe(live.key("api_keys"))} LIMIT 1) k,
    LATERAL (SELECT organization_id, capabilities, paused_at FROM service_accounts
      WHERE service_account_id = k.service_account_id AND ${c.unsafe(live.account("service_accounts"))} LIMIT 1) a
  UNION ALL SELECT 'seller', row_to_json(s) FROM unnest(string_to_array(${joined(asked.sellerIds)}, chr(1))) AS w(seller_id), LATERAL (
    SELECT seller_id, organization_id, name, domain, verified, stopped_at, minimum_assurance_level,
      CASE WHEN (SELECT true FROM seller_stops WHERE base = split_part(domain, '.', -2) || '.' || split_part(domain, '.', -1) LIMIT 1)
        THEN ${c.unsafe(stopOver.domain("sellers.domain"))} END AS over_domain
    FROM sellers
    WHERE seller_id = w.seller_id LIMIT 1) s
  UNION ALL SELECT 'resource', row_to_json(r)
    FROM unnest(string_to_array(${joined(asked.offered.of)}, chr(1)),
      string_to_array(${joined(asked.offered.ids)}, chr(1))) AS w(seller_id, resource_id), LATERAL (
    SELECT seller_id, resource_id, method, path_template, description, pricing, accepted_payment_challenge_types,
      minimum_assurance_level, payment_config,
      CASE WHEN (SELECT true FROM seller_stops WHERE kind = 'address' AND value = pay_to LIMIT 1)
        THEN ${c.unsafe(stopOver.address("resources.pay_to", "resources.organization_id"))} END AS over_address
    FROM resources
    WHERE seller_id = w.seller_id AND resource_id = w.resource_id AND archived_at IS NULL AND payment_config IS NOT NULL LIMIT 1) r
  UNION ALL SELECT 'bucket', row_to_json(b) FROM unnest(string_to_array(${joined(asked.mandateIds)}, chr(1))) AS w(mandate_id), LATERAL (
    SELECT mandate_id, window_key, start, live_until, spent::text, reserved::text, payments FROM usage_buckets
    WHERE mandate_id = w.mandate_id AND live_until > (SELECT clock_timestamp() - interval '1 minute') OFFSET 0) b
  UNION ALL SELECT 'fees', row_to_json(f) FROM (${selectFeeBasis(c, asked.organizations, asked.sellerIds)}) f`;

/** Like factsAsked, for a batch with callers that have sessions, or with payments of approvals, continuations or orders. */
export const factsWithSessions = (c: Sql, asked: Query) => c`${factsAsked(c, asked)}
  UNION ALL SELECT 'session', row_to_json(s) FROM (${liveSessions(c, asked.sessionIds, asked.organizations)}) s
  UNION ALL SELECT 'reply', row_to_json(i) FROM (${storedReplies(c, asked.replies)}) i
  UNION ALL SELECT 'checkout', row_to_json(k) FROM (${approvalFacts(c, asked.checkouts, asked.organizations)}) k`;

/** No lock is taken. The policies are read in this statement, because a separate statement could read a later version. */
export const factsToRead = (c: Sql, asked: Query, locks: Locks) => c`
  SELECT 'mandate' AS what, row_to_json(m) AS row FROM (${mandatesOf(c, locks, c``)}) m
  UNION ALL SELECT 'policy', row_to_json(p) FROM (${selectPolicies(c, asked.mandateIds)}) p
  UNION ALL ${factsAsked(c, asked)}`;
