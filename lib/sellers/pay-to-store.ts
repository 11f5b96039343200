import { and, count, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { stopOver } from "#lib/sellers/stop-store.ts";
import { stopOf, type StopOver } from "#lib/sellers/stops.ts";
import { payToChallenges, payToProofs } from "#lib/sellers/tables.ts";

type Db = Database | Tx;

export type PayToChallenge = typeof payToChallenges.$inferSelect;
export type PayToProof = typeof payToProofs.$inferSelect;

/** The value of `chain` in a proof that is valid on every chain. */
export const ANY_CHAIN = "";

/**
 * A proof by signature always counts. A proof by domain counts only while its seller is verified and not stopped, and no other
 * organization has a proof by signature for the same address, on any chain.
 */
const counts = sql`(p.method = 'signature' OR (
  EXISTS (SELECT FROM sellers d WHERE d.seller_id = p.seller_id AND d.verified AND d.stopped_at IS NULL)
  AND NOT EXISTS (SELECT FROM pay_to_proofs o
    WHERE o.address = p.address AND o.organization_id <> p.organization_id AND o.method = 'signature')))`;

export type PaidAt = { readonly payTo: string; readonly chain: string };

const keyOf = ({ payTo, chain }: PaidAt): string => `${payTo.toLowerCase()} ${chain}`;

/** Returns a function that says whether the organization has proved that it controls an address on a chain. */
export async function provenAmong(db: Db, organizationId: string, paid: readonly PaidAt[]): Promise<(one: PaidAt) => boolean> {
  const addresses = [...new Set(paid.map(({ payTo }) => payTo.toLowerCase()))];
  if (addresses.length === 0) return () => false;
  const rows = await db.execute<{ address: string; chain: string }>(sql`
    SELECT p.address, p.chain FROM pay_to_proofs p
    WHERE p.organization_id = ${organizationId} AND ${inArray(sql`p.address`, addresses)} AND ${counts}`);
  const proven = new Set(rows.map(({ address, chain }) => keyOf({ payTo: address, chain })));
  return (one) => proven.has(keyOf(one)) || proven.has(keyOf({ ...one, chain: ANY_CHAIN }));
}

export type OwnPayee = {
  /** Whether a resource that is not archived is paid to this address, and no emergency stop forbids payments to its seller. */
  readonly sells: boolean;
  readonly proven: boolean;
};

/** `proven`: whether the organization has proved the address for this chain or for all chains; false if `sells` is false. */
export async function ownPayee(db: Db, organizationId: string, { payTo, chain }: PaidAt): Promise<OwnPayee> {
  const address = payTo.toLowerCase();
  const rows = await db.execute<{
    stopped: boolean;
    verified: boolean;
    over_domain: StopOver;
    over_address: StopOver;
    proven: boolean;
  }>(sql`
    SELECT s.stopped_at IS NOT NULL AS stopped, s.verified, ${sql.raw(stopOver.domain("s.domain"))} AS over_domain,
      ${sql.raw(stopOver.address("r.pay_to", "r.organization_id"))} AS over_address,
      (SELECT EXISTS (SELECT FROM pay_to_proofs p WHERE p.organization_id = ${organizationId} AND p.address = ${address}
        AND p.chain IN (${ANY_CHAIN}, ${chain}) AND ${counts})) AS proven
    FROM (SELECT DISTINCT seller_id, pay_to, organization_id FROM resources
      WHERE pay_to = ${address} AND organization_id = ${organizationId} AND archived_at IS NULL) r
    JOIN sellers s ON s.seller_id = r.seller_id`);
  const payable = rows.filter(
    ({ stopped, verified, over_domain: overDomain, over_address: overAddress }) =>
      stopOf({ stopped, verified, overDomain, overAddress }) === null,
  );
  return { sells: payable.length > 0, proven: payable.some(({ proven }) => proven) };
}

/** Takes an advisory lock until commit, so that two proofs of the same address are not checked at the same time. */
export async function lockPayTo(tx: Tx, address: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`pay to ${address}`}, 0))`);
}

/** Whether another organization has proved the address by any method, with a proof that still counts; on any chain, or on this. */
export async function provenElsewhere(db: Db, organizationId: string, address: string, chain?: string): Promise<boolean> {
  const there = chain === undefined ? sql`true` : sql`p.chain IN (${ANY_CHAIN}, ${chain})`;
  const rows = await db.execute(sql`
    SELECT FROM pay_to_proofs p
    WHERE p.address = ${address} AND p.organization_id <> ${organizationId} AND ${there} AND ${counts} LIMIT 1`);
  return rows.length > 0;
}

/** A proof that is stored already does not change. */
export async function saveProof(tx: Tx, proof: typeof payToProofs.$inferInsert): Promise<PayToProof> {
  const { organizationId, address, chain, method } = proof;
  await tx.insert(payToProofs).values(proof).onConflictDoNothing();
  const [saved] = await tx
    .select()
    .from(payToProofs)
    .where(
      and(
        eq(payToProofs.organizationId, organizationId),
        eq(payToProofs.address, address),
        eq(payToProofs.chain, chain),
        eq(payToProofs.method, method),
      ),
    );
  return saved!;
}

export async function countOpenChallenges(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await tx
    .select({ count: count() })
    .from(payToChallenges)
    .where(
      and(
        eq(payToChallenges.organizationId, organizationId),
        gt(payToChallenges.expiresAt, sql`clock_timestamp()`),
        isNull(payToChallenges.usedAt),
      ),
    );
  return row?.count ?? 0;
}

export async function insertPayToChallenge(tx: Tx, row: typeof payToChallenges.$inferInsert): Promise<void> {
  await tx.insert(payToChallenges).values(row);
}

export async function findChallenge(db: Db, owner: Scope, challengeId: string): Promise<PayToChallenge | null> {
  const [row] = await db
    .select()
    .from(payToChallenges)
    .where(and(eq(payToChallenges.challengeId, challengeId), within(payToChallenges, owner)));
  return row ?? null;
}

/** False if the challenge was used before or has expired. */
export async function useChallenge(tx: Tx, challengeId: string): Promise<boolean> {
  const rows = await tx
    .update(payToChallenges)
    .set({ usedAt: sql`statement_timestamp()` })
    .where(
      and(
        eq(payToChallenges.challengeId, challengeId),
        isNull(payToChallenges.usedAt),
        gt(payToChallenges.expiresAt, sql`statement_timestamp()`),
      ),
    )
    .returning({ challengeId: payToChallenges.challengeId });
  return rows.length === 1;
}

export const forgetOldChallenges = (): Promise<number> => deleteOld(payToChallenges.expiresAt, 1);
