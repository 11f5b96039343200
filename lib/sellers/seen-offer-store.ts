import { and, desc, eq, lte, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { atomicOf } from "#lib/money.ts";
import { seenOffers } from "#lib/sellers/tables.ts";

/** `amount` is null if the seller quotes a price in each 402. */
export type WantedOffer = {
  readonly domain: string;
  /** In lower case. */
  readonly payTo: string;
  readonly chain: string;
  readonly tokenAddress: string;
  readonly amount: bigint | null;
};
export type SeenOffer = WantedOffer & { readonly amount: bigint; readonly url: string };

/** Limited, because a seller with a different price for each order could fill the table. */
const PER_DOMAIN_MAX = 200;
/** Decisions use an offer for one day; seenBefore finds it for two. */
const KEPT_DAYS = 2;

/** Stores an offer, or the new time and URL of a known one. Deletes the domain's oldest offers above the limit. */
export async function rememberOffer(db: Database, offer: SeenOffer): Promise<void> {
  await db.transaction(async (tx) => {
    await tx
      .insert(seenOffers)
      .values({ ...offer, amount: atomicOf(offer.amount), seenAt: sql`clock_timestamp()` })
      .onConflictDoUpdate({
        target: [seenOffers.domain, seenOffers.payTo, seenOffers.chain, seenOffers.tokenAddress, seenOffers.amount],
        set: { seenAt: sql`excluded.seen_at`, url: offer.url },
      });
    const [newest] = await tx
      .select({ seenAt: seenOffers.seenAt })
      .from(seenOffers)
      .where(eq(seenOffers.domain, offer.domain))
      .orderBy(desc(seenOffers.seenAt))
      .offset(PER_DOMAIN_MAX)
      .limit(1);
    if (newest)
      await tx.delete(seenOffers).where(and(eq(seenOffers.domain, offer.domain), lte(seenOffers.seenAt, newest.seenAt)));
  });
}

/** For each wanted offer, whether this service saw it within the last two days. */
export async function seenBefore(tx: Tx, wanted: readonly (WantedOffer | null)[]): Promise<readonly boolean[]> {
  const asked = wanted.flatMap((offer, number) =>
    offer ? [{ ...offer, amount: offer.amount?.toString() ?? null, number }] : [],
  );
  if (asked.length === 0) return wanted.map(() => false);
  const rows = await tx.execute<{ number: number }>(sql`
    SELECT w.number FROM json_to_recordset(${JSON.stringify(asked)}::json)
      AS w(number integer, domain text, "payTo" text, chain text, "tokenAddress" text, amount numeric), LATERAL (
        SELECT seen_at FROM ${seenOffers} o WHERE o.domain = w.domain AND o.pay_to = w."payTo" AND o.chain = w.chain
          AND o.token_address = w."tokenAddress" AND o.amount = coalesce(w.amount, o.amount)
          AND o.seen_at > (SELECT clock_timestamp() - ${KEPT_DAYS} * interval '1 day') LIMIT 1) s`);
  const seen = new Set(rows.map(({ number }) => number));
  return wanted.map((_, number) => seen.has(number));
}

export const forgetOldOffers = (): Promise<number> => deleteOld(seenOffers.seenAt, KEPT_DAYS);
