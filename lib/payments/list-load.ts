import type { Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import { approvalFacts, lockCheckouts, storedReplies } from "#lib/approvals/list-store.ts";
import { outboundLoopback } from "#lib/env.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import {
  beginToRead,
  beginToWrite,
  factsAsked,
  liveSessions,
  mandatesOf,
  mandatesToRead,
  policiesOf,
  sellersAtDomains,
  type Found,
  type Pairs,
} from "#lib/payments/list-statements.ts";
import { namedSeller, readOffer, unregisteredPayee, type Offer } from "#lib/payments/unregistered-offer.ts";
import { canonicalDomain } from "#lib/sellers/domain.ts";

/** All facts that the decisions of a batch need, read under the locks. */
export type Loaded = {
  readonly now: Date;
  readonly mandates: readonly Row[];
  /** For items that name no registered seller: the offers in their challenges, and the sellers that verified those domains. */
  readonly offers: ReadonlyMap<Item, Offer>;
  readonly atDomains: ReadonlyMap<string, string>;
  /** Unregistered payees that an emergency stop covers, keyed by unregisteredPayee. */
  readonly stoppedPayees: ReadonlySet<string>;
  /** The rows of factsAsked, by kind. */
  readonly found: ReadonlyMap<Found, readonly Row[]>;
  readonly sessions: readonly Row[];
  readonly policies: readonly Row[];
  /** For items with extra rows: their checkouts with the facts for an approval, and their stored replies. */
  readonly checkouts: readonly Row[];
  readonly replies: readonly Row[];
};

/** Sends statements without waiting between them, and throws the first failure. */
export async function pipelined<const Q extends readonly PromiseLike<unknown>[]>(
  queries: Q,
): Promise<{ [K in keyof Q]: Awaited<Q[K]> }> {
  const results = await Promise.allSettled(queries);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as { [K in keyof Q]: Awaited<Q[K]> };
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Null if the intent names no seller and no seller verified the challenge's domain. */
const sellerOf = (item: Item, { offers, atDomains }: Pick<Loaded, "offers" | "atDomains">): string | null =>
  namedSeller(item.intent) ?? atDomains.get(offers.get(item)?.domain ?? "") ?? null;

/** The two columns of distinct pairs. The first ids have no spaces. */
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

/** Reads the challenge only for items that name no registered seller. */
function offersOf(items: readonly Item[]): ReadonlyMap<Item, Offer> {
  const offers = new Map<Item, Offer>();
  for (const item of items) {
    if (item.intent.challenge === undefined || namedSeller(item.intent) !== null) continue;
    const offer = readOffer(item.intent.challenge, sellerDomainOf);
    if (offer) offers.set(item, offer);
  }
  return offers;
}

/** For items with extra rows: their checkouts, the sessions of their callers, and the slots of their replies. */
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

/** The distinct ids that a batch needs. Mandates are in lock order. */
function idsOf(items: readonly Item[], asked: Pick<Loaded, "offers" | "atDomains">) {
  const askers = items.map((item) => item.asker);
  const sellers = new Map(items.map((item) => [item, sellerOf(item, asked)]));
  const payeeOf = (item: Item) => sellers.get(item) ?? unregisteredPayee(asked.offers.get(item)?.domain, item.intent.payTo);
  return {
    mandateIds: unique(items.map((item) => item.mandateId)).toSorted(),
    organizations: unique(items.map((item) => item.organizationId)),
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
    brought: broughtBy(items.filter((item) => item.also)),
  };
}

const nothing: Promise<readonly Row[]> = Promise.resolve([]);

type Unregistered = Pick<Loaded, "atDomains" | "stoppedPayees">;
const nobody: Unregistered = { atDomains: new Map(), stoppedPayees: new Set() };

/** An extra round trip after the gate, only for a batch with a challenge that names no registered seller. */
async function payeesAtDomains(c: Sql, offers: Loaded["offers"]): Promise<Unregistered> {
  const payees = columnsOf(
    [...offers].flatMap(([{ intent }, { domain }]) =>
      domain === null ? [] : [`${domain} ${intent.payTo?.toLowerCase() ?? ""}`],
    ),
  );
  if (payees.of.length === 0) return nobody;
  const rows: readonly Row[] = await sellersAtDomains(c, { domains: payees.of, payTos: payees.ids });
  const verified = rows.filter((row) => row["seller_id"] !== null);
  const stopped = rows.filter((row) => row["stopped"] === true);
  return {
    atDomains: new Map(verified.map((row) => [row["domain"] as string, row["seller_id"] as string])),
    stoppedPayees: new Set(stopped.flatMap((row) => unregisteredPayee(row["domain"] as string, row["pay_to"] as string) ?? [])),
  };
}

type Known = ReadonlyMap<string, { readonly version: number }>;

/** Mandates whose version differs from the cached one. Their policies cost one extra round trip. */
const changedSince = (known: Known, mandates: readonly Row[]): string[] =>
  mandates.flatMap(({ mandate_id: id, version }) =>
    (known.get(id as string)?.version ?? version) === version ? [] : [id as string],
  );

/** Round trip 1: the gate, the mandate locks, then the clock and the facts. Reads statuses after the gate and the clock after the locks. */
export async function openAndLoad(
  c: Sql,
  items: readonly Item[],
  known: Known,
  purpose: "write" | "read" = "write",
): Promise<Loaded> {
  const offers = offersOf(items);
  const begun = (purpose === "write" ? beginToWrite : beginToRead)(c).execute();
  const { atDomains, stoppedPayees } = offers.size > 0 ? (await pipelined([begun, payeesAtDomains(c, offers)]))[1] : nobody;
  const ids = idsOf(items, { offers, atDomains });
  const { mandateIds, organizations, sessionIds } = ids;
  const unknown = mandateIds.filter((mandateId) => !known.has(mandateId));
  const { brought } = ids;
  // Keep this list flat: pipelined sends each statement in order, and a nested group would be sent before all of them.
  const [, mandates, , asked, sessions, policies, checkouts, replies] = await pipelined([
    begun,
    (purpose === "write" ? mandatesOf : mandatesToRead)(c, items[0]!.environment, mandateIds, organizations),
    brought.checkouts.length > 0 ? lockCheckouts(c, brought.checkouts.toSorted(), organizations) : nothing,
    factsAsked(c, ids),
    sessionIds.length > 0 ? liveSessions(c, sessionIds, organizations) : nothing,
    unknown.length > 0 ? policiesOf(c, unknown) : nothing,
    brought.checkouts.length > 0
      ? approvalFacts(c, { ids: brought.checkouts, sessionIds: brought.sessionIds }, organizations)
      : nothing,
    brought.slots.length > 0 ? storedReplies(c, brought.slots) : nothing,
  ]);
  const changed = changedSince(known, mandates);
  const found = Map.groupBy(asked, ({ what }) => what as Found);
  return {
    now: new Date(found.get("clock")?.[0]?.["row"] as string),
    mandates,
    offers,
    atDomains,
    stoppedPayees,
    found,
    sessions,
    policies: changed.length > 0 ? [...policies, ...(await policiesOf(c, changed))] : policies,
    checkouts,
    replies,
  };
}
