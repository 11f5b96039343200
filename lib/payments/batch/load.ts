import type { Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import { lockApprovers } from "#lib/approvals/decision/batch-store.ts";
import { outboundLoopback } from "#lib/env.ts";
import { approverOf, type Item } from "#lib/payments/queue-item.ts";
import { cardsAsking } from "#lib/payments/batch/by-card.ts";
import {
  beginToWrite,
  factsAsked,
  factsToRead,
  factsWithSessions,
  lockMandates,
  lockWithCheckouts,
  selectPolicies,
  sellersAtDomains,
  type Query,
  type Fact,
  type Locks,
  type Pairs,
} from "#lib/payments/batch/statements.ts";
import { namedSeller, readOffer, unregisteredPayee, type Offer } from "#lib/payments/unregistered-offer.ts";
import { canonicalDomain } from "#lib/sellers/domain.ts";

/**
 * The facts are read under the revocation gate and, except atDomains and stoppedPayees, while the mandates' rows are locked. A
 * simulation reads them without a lock.
 */
export type BatchRows = {
  readonly now: Date;
  readonly mandates: readonly Row[];
  /** The offers in the challenges, only for payments that name no seller by its id. */
  readonly offers: ReadonlyMap<Item, Offer>;
  /** The ids of the sellers that verified the domains of those offers, by domain. */
  readonly atDomains: ReadonlyMap<string, string>;
  /** The keys (unregisteredPayee) of unregistered payees that an emergency stop forbids to pay. */
  readonly stoppedPayees: ReadonlySet<string>;
  readonly found: ReadonlyMap<Fact, readonly Row[]>;
  readonly policies: readonly Row[];
  /** The cards that ask, with their connections and agents. */
  readonly cards: readonly Row[];
};

/** Sends all queries at once. When all have ended, it throws the failure of the first query in the list that failed. */
export async function pipelined<const Q extends readonly PromiseLike<unknown>[]>(
  queries: Q,
): Promise<{ [K in keyof Q]: Awaited<Q[K]> }> {
  const results = await Promise.allSettled(queries);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as { [K in keyof Q]: Awaited<Q[K]> };
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** The seller that a payment pays; null if the intent names no seller and no seller verified the domain of its challenge. */
const sellerOf = (item: Item, { offers, atDomains }: Pick<BatchRows, "offers" | "atDomains">): string | null =>
  namedSeller(item.intent) ?? atDomains.get(offers.get(item)?.domain ?? "") ?? null;

/** Splits each distinct pair at its first space, because the first id of a pair never contains a space. */
function columnsOf(pairs: readonly string[]): Pairs {
  const distinct = unique(pairs);
  const spaces = distinct.map((pair) => pair.indexOf(" "));
  return {
    of: distinct.map((pair, index) => pair.slice(0, spaces[index])),
    ids: distinct.map((pair, index) => pair.slice(spaces[index]! + 1)),
  };
}

/** A host in the stored spelling of seller domains; null if it cannot be a seller's domain. */
export function sellerDomainOf(host: string): string | null {
  const read = canonicalDomain(host, outboundLoopback());
  return read.ok ? read.domain : null;
}

function offersOf(items: readonly Item[]): ReadonlyMap<Item, Offer> {
  const offers = new Map<Item, Offer>();
  for (const item of items) {
    if (item.intent.challenge === undefined || namedSeller(item.intent) !== null) continue;
    const offer = readOffer(item.intent.challenge, sellerDomainOf);
    if (offer) offers.set(item, offer);
  }
  return offers;
}

/** What is locked is sorted, so that two batches cannot deadlock; `organizations` is only a filter. */
const locksOf = (items: readonly Item[]): Locks => ({
  environment: items[0]!.environment,
  mandateIds: unique(items.map((item) => item.mandateId)).toSorted(),
  organizations: unique(items.map((item) => item.organizationId)),
  checkoutIds: items.flatMap(({ purchase }) => purchase?.checkoutIntentId ?? []).toSorted(),
  approverIds: items.flatMap((item) => approverOf(item) ?? []).toSorted(),
});

function idsOf(items: readonly Item[], { mandateIds, organizations }: Locks, at: Pick<BatchRows, "offers" | "atDomains">): Query {
  const askers = items.map((item) => item.asker);
  const sellers = new Map(items.map((item) => [item, sellerOf(item, at)]));
  const payeeOf = (item: Item) => sellers.get(item) ?? unregisteredPayee(at.offers.get(item)?.domain, item.intent.payTo);
  const purchases = items.filter((item) => item.purchase);
  const sessionOf = ({ asker }: Item) => (asker.kind === "session" ? asker.sessionId : "");
  return {
    mandateIds,
    organizations,
    keyIds: unique(askers.flatMap((asker) => (asker.kind === "key" ? [asker.keyId] : []))),
    sessionIds: unique(askers.flatMap((asker) => (asker.kind === "session" ? [asker.sessionId] : []))),
    sellerIds: unique([...sellers.values()].filter((sellerId) => sellerId !== null)),
    offered: columnsOf(
      items.flatMap((item) => (item.intent.resource ? [`${sellers.get(item)} ${item.intent.resource.resourceId}`] : [])),
    ),
    paid: columnsOf(items.map((item) => `${item.mandateId} ${payeeOf(item)}`)),
    intents: unique(items.map((item) => `${item.mandateId} ${item.intent.intentId}`)),
    nonces: unique(items.map((item) => `${item.mandateId} ${item.intent.nonce}`)),
    slots: items.map((item) => item.slot),
    replies: purchases.map((item) => item.slot),
    checkouts: columnsOf(
      purchases.flatMap((item) =>
        item.purchase?.checkoutIntentId ? [`${sessionOf(item)} ${item.purchase.checkoutIntentId}`] : [],
      ),
    ),
  };
}

export const nothing: Promise<readonly Row[]> = Promise.resolve([]);

/** Looking up these payees costs an extra round trip before the other facts. */
const payeesOf = (offers: BatchRows["offers"]): Pairs =>
  columnsOf(
    [...offers].flatMap(([{ intent }, { domain }]) =>
      domain === null ? [] : [`${domain} ${intent.payTo?.toLowerCase() ?? ""}`],
    ),
  );

function readPayees(rows: readonly Row[]): Pick<BatchRows, "atDomains" | "stoppedPayees"> {
  const verified = rows.filter((row) => row["seller_id"] !== null);
  const stopped = rows.filter((row) => row["stopped"] === true);
  return {
    atDomains: new Map(verified.map((row) => [row["domain"] as string, row["seller_id"] as string])),
    stoppedPayees: new Set(stopped.flatMap((row) => unregisteredPayee(row["domain"] as string, row["pay_to"] as string) ?? [])),
  };
}

type Versions = ReadonlyMap<string, { readonly version: number }>;

/** The mandates with another version than the cached policy. Reading their policies costs an extra round trip. */
const changedSince = (known: Versions, mandates: readonly Row[]): string[] =>
  mandates.flatMap(({ mandate_id: id, version }) =>
    (known.get(id as string)?.version ?? version) === version ? [] : [id as string],
  );

const byKind = (rows: readonly Row[]) => Map.groupBy(rows, ({ what }) => what as Fact);

const rowsOf = (rows: readonly Row[], kind: Fact): readonly Row[] => (byKind(rows).get(kind) ?? []).map(({ row }) => row as Row);

const timeOf = (found: BatchRows["found"]): Date => new Date(found.get("clock")?.[0]?.["row"] as string);

/**
 * Keys and sessions must be read after the gate is locked, so that no revocation is missed, and the clock after all locks, or the
 * time is earlier than changes that were waited for.
 */
export async function openAndLoad(c: Sql, items: readonly Item[], known: Versions): Promise<BatchRows> {
  const offers = offersOf(items);
  const payees = payeesOf(offers);
  const locks = locksOf(items);
  const begun = beginToWrite(c).execute();
  const withCheckouts = locks.checkoutIds.length > 0 ? lockWithCheckouts(c, locks, payees) : null;
  const payeeRows = payees.of.length > 0 ? (await pipelined([begun, withCheckouts ?? sellersAtDomains(c, payees)]))[1] : [];
  const unregistered = readPayees(withCheckouts ? rowsOf(payeeRows, "payee") : payeeRows);
  const asked = idsOf(items, locks, { offers, ...unregistered });
  const unknown = locks.mandateIds.filter((mandateId) => !known.has(mandateId));
  const people = asked.sessionIds.length > 0 || asked.replies.length > 0;
  // Do not nest calls of pipelined in this list: a nested call would send its statements before the others.
  const [, locked, , rows, policies, cards] = await pipelined([
    begun,
    withCheckouts ?? lockMandates(c, locks),
    locks.approverIds.length > 0 ? lockApprovers(c, locks.approverIds) : nothing,
    (people ? factsWithSessions : factsAsked)(c, asked),
    unknown.length > 0 ? selectPolicies(c, unknown) : nothing,
    cardsAsking(c, items),
  ]);
  const mandates = withCheckouts ? rowsOf(locked, "mandate") : locked;
  const changed = changedSince(known, mandates);
  const found = byKind(rows);
  return {
    now: timeOf(found),
    mandates,
    offers,
    ...unregistered,
    found,
    cards,
    policies: changed.length > 0 ? [...policies, ...(await selectPolicies(c, changed))] : policies,
  };
}

export async function loadToRead(c: Sql, items: readonly Item[]): Promise<BatchRows> {
  const offers = offersOf(items);
  const payees = payeesOf(offers);
  const unregistered = readPayees(payees.of.length > 0 ? await sellersAtDomains(c, payees) : []);
  const locks = locksOf(items);
  const rows = await factsToRead(c, idsOf(items, locks, { offers, ...unregistered }), locks);
  const found = byKind(rows);
  const [mandates, policies] = [rowsOf(rows, "mandate"), rowsOf(rows, "policy")];
  return { now: timeOf(found), mandates, offers, ...unregistered, found, policies, cards: [] };
}
