import { and, eq, inArray, or, sql, type SQL } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { domainsReached, stopOf, type PayeeStop, type Reach, type StopOver } from "#lib/sellers/stops.ts";
import { payToProofs, resources, sellers, sellerStops } from "#lib/sellers/tables.ts";

type Payee = { readonly sellerId: string | null; readonly domain: string | null; readonly payTo: string | null };
type StopRow = {
  readonly stopped: boolean;
  readonly verified: boolean | null;
  readonly over_domain: StopOver;
  readonly over_address: StopOver;
};

/**
 * Expressions in SQL, as are their parts: whether an emergency stop covers a domain, or an address in lower case. 'proven',
 * 'claimed' or NULL, as in StopOver. Name columns with their table. LATERAL with OFFSET 0 and LIMIT 1 look up rows by index.
 */
export const stopOver = {
  /** Also by a stop of a domain above. */
  domain: (domain: string): string =>
    `(SELECT CASE WHEN bool_or(o.proven) THEN 'proven' WHEN count(*) > 0 THEN 'claimed' END
      FROM (SELECT string_to_array(${domain}, '.') AS labels) h, generate_series(1, cardinality(h.labels)) n, LATERAL (
        SELECT t.proven FROM seller_stops t
        WHERE t.kind = 'domain' AND t.value = array_to_string(h.labels[n:], '.') AND (t.subdomains OR t.value = ${domain}) OFFSET 0) o)`,
  /** An organization that has signed for an address is not stopped because of another seller that had only claimed it. */
  address: (address: string, organizationId: string): string =>
    `(SELECT CASE WHEN bool_or(t.proven) THEN 'proven' WHEN count(*) > 0 THEN 'claimed' END FROM seller_stops t
      WHERE t.kind = 'address' AND t.value = ${address} AND (t.proven OR (
        SELECT true FROM pay_to_proofs p
        WHERE p.address = t.value AND p.method = 'signature' AND p.organization_id = ${organizationId} LIMIT 1) IS NULL))`,
} as const;

/** Call enterGate before if no emergency stop may take effect between this check and the commit. */
export async function payeeStop(tx: Tx, { sellerId, domain, payTo }: Payee): Promise<PayeeStop> {
  const [found] = await tx.execute<StopRow>(sql`
    SELECT s.stopped_at IS NOT NULL AS stopped, s.verified, ${sql.raw(stopOver.domain("w.domain"))} AS over_domain,
      ${sql.raw(stopOver.address("w.pay_to", "s.organization_id"))} AS over_address
    FROM (SELECT ${sellerId}::text AS seller_id, ${domain}::text AS domain, lower(${payTo}::text) AS pay_to) w
    LEFT JOIN sellers s ON s.seller_id = w.seller_id`);
  if (!found) throw new Error("A query of one row had none.");
  const { stopped, verified, over_domain: overDomain, over_address: overAddress } = found;
  return stopOf({ stopped, verified: verified === true, overDomain, overAddress });
}

/** Whether the stopped seller had proved the domain or had only claimed it; null if no stop forbids the domain. */
export async function stopOverDomain(tx: Tx, domain: string): Promise<StopOver> {
  const [found] = await tx.execute<{ over: StopOver }>(
    sql`SELECT ${sql.raw(stopOver.domain("w.domain"))} AS over FROM (SELECT ${domain}::text AS domain) w`,
  );
  return found?.over ?? null;
}

/** Includes domains above this one. The organization must not register the domain again, because that would bypass the stop. */
export async function stoppedItself(tx: Tx, organizationId: string, domain: string): Promise<boolean> {
  const hosts = domain.split(".").map((_, at, labels) => labels.slice(at).join("."));
  const above = and(inArray(sellerStops.value, hosts), or(sellerStops.subdomains, eq(sellerStops.value, domain)));
  return hasStoppedSeller(tx, organizationId, and(eq(sellerStops.kind, "domain"), above));
}

/** Whether a seller of this organization was stopped that was paid at this address or had proved it. */
export const stoppedAtAddress = (tx: Tx, organizationId: string, address: string): Promise<boolean> =>
  hasStoppedSeller(tx, organizationId, and(eq(sellerStops.kind, "address"), eq(sellerStops.value, address)));

async function hasStoppedSeller(tx: Tx, organizationId: string, which: SQL | undefined): Promise<boolean> {
  const rows = await tx
    .select({ value: sellerStops.value })
    .from(sellerStops)
    .innerJoin(sellers, and(eq(sellers.sellerId, sellerStops.sellerId), eq(sellers.organizationId, organizationId)))
    .where(which)
    .limit(1);
  return rows.length > 0;
}

type StoppedSeller = {
  readonly sellerId: string;
  readonly organizationId: string;
  readonly domain: string;
  readonly verified: boolean;
};

/** All domains and addresses that an emergency stop of this seller covers. */
export async function reachOfStop(
  db: Database | Tx,
  { sellerId, organizationId, domain, verified }: StoppedSeller,
): Promise<readonly Reach[]> {
  const paidTo = await db.selectDistinct({ address: resources.payTo }).from(resources).where(eq(resources.sellerId, sellerId));
  const addresses = paidTo.flatMap(({ address }) => address ?? []);
  const signedFor = await db
    .selectDistinct({ address: payToProofs.address })
    .from(payToProofs)
    .where(
      and(
        eq(payToProofs.organizationId, organizationId),
        eq(payToProofs.method, "signature"),
        or(inArray(payToProofs.address, addresses), eq(payToProofs.sellerId, sellerId)),
      ),
    );
  const proven = new Set(signedFor.map(({ address }) => address));
  return [
    ...domainsReached(domain).map((one) => ({ kind: "domain" as const, ...one, proven: verified })),
    ...[...new Set([...addresses, ...proven])].map((value) => ({
      kind: "address" as const,
      value,
      proven: proven.has(value),
      subdomains: false,
    })),
  ];
}

/** A repeated stop adds what is new since the first stop. */
export async function recordStop(tx: Tx, sellerId: string, reach: readonly Reach[], now: Date): Promise<void> {
  await tx
    .insert(sellerStops)
    .values(reach.map((one) => ({ ...one, sellerId, createdAt: now })))
    .onConflictDoUpdate({
      target: [sellerStops.kind, sellerStops.value, sellerStops.sellerId],
      set: { proven: sql`${sellerStops.proven} OR excluded.proven` },
    });
}

/** A stopped seller cannot be verified any more. */
export async function stopSeller(tx: Tx, sellerId: string, now: Date): Promise<{ readonly verified: boolean }> {
  const [stopped] = await tx
    .update(sellers)
    .set({ stoppedAt: sql`coalesce(${sellers.stoppedAt}, ${now.toISOString()}::timestamptz)`, updatedAt: now })
    .where(eq(sellers.sellerId, sellerId))
    .returning({ verified: sellers.verified });
  return stopped!;
}
