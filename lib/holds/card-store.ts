import { and, asc, eq, getTableColumns, isNull, or, sql } from "drizzle-orm";
import { given } from "#lib/db/bulk.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { columnsOf } from "#lib/db/rows.ts";
import type { Sql } from "#lib/db/sql.ts";
import { cardAuthorizations, cardParts, cardTransactions } from "#lib/holds/card-tables.ts";
import { usageAndPolicy, type Hold } from "#lib/holds/hold-store.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { bucketAt } from "#lib/mandates/policy/windows.ts";
import { usageBuckets } from "#lib/mandates/tables.ts";
import { UNIT_DECIMALS, zero, type Atomic } from "#lib/money.ts";

export type CardAuthorizationRow = typeof cardAuthorizations.$inferSelect;
export type CardPartRow = typeof cardParts.$inferSelect;

export type NewCardPart = Pick<CardAuthorizationRow, "connectionId" | "stripeId" | "organizationId" | "cardId" | "merchantName"> &
  Pick<CardPartRow, "authorizationId" | "position" | "held">;

const newAuthorizations = given(
  "asked",
  columnsOf<NewCardPart, typeof cardAuthorizations>(cardAuthorizations, {
    connectionId: (row) => row.connectionId,
    stripeId: (row) => row.stripeId,
    organizationId: (row) => row.organizationId,
    cardId: (row) => row.cardId,
    merchantName: (row) => row.merchantName,
  }),
);
const newParts = given(
  "part",
  columnsOf<NewCardPart, typeof cardParts>(cardParts, {
    authorizationId: (row) => row.authorizationId,
    connectionId: (row) => row.connectionId,
    stripeId: (row) => row.stripeId,
    position: (row) => row.position,
    held: (row) => row.held,
    open: (row) => row.held,
  }),
  newAuthorizations.last,
);

const INSERT_PARTS = `
  WITH made AS (INSERT INTO card_authorizations (${newAuthorizations.names}) SELECT * FROM ${newAuthorizations.source} ON CONFLICT DO NOTHING)
  INSERT INTO card_parts (${newParts.names}) SELECT * FROM ${newParts.source}`;

export function insertCardParts(c: Sql, parts: readonly NewCardPart[]) {
  // Sorted, so that batches write authorizations in one order.
  const sorted = parts.toSorted((a, b) => (`${a.connectionId} ${a.stripeId}` < `${b.connectionId} ${b.stripeId}` ? -1 : 1));
  return c.unsafe(INSERT_PARTS, [...newAuthorizations.values(sorted), ...newParts.values(sorted)], { prepare: true });
}

type Key = { readonly connectionId: string; readonly stripeId: string };

const ofKey = ({ connectionId, stripeId }: Key) =>
  and(eq(cardParts.connectionId, connectionId), eq(cardParts.stripeId, stripeId));

/** With the mandate that decided and what one whole unit of the currency counted as, such as "1.12 USD". In the order in which Stripe asked. */
export const partsOfCard = (tx: Tx, key: Key) =>
  tx
    .select({
      ...getTableColumns(cardParts),
      organizationId: authorizations.organizationId,
      mandateId: authorizations.mandateId,
      subjectId: authorizations.subjectId,
      unitRate: authorizations.unitRate,
      expiresAt: authorizations.expiresAt,
      createdAt: authorizations.createdAt,
    })
    .from(cardParts)
    .innerJoin(authorizations, eq(authorizations.authorizationId, cardParts.authorizationId))
    .where(ofKey(key))
    .orderBy(asc(cardParts.position), asc(cardParts.authorizationId));
export type DecidedPart = Awaited<ReturnType<typeof partsOfCard>>[number];

export async function mandatesOfCard(tx: Tx, key: Key): Promise<readonly string[]> {
  const rows = await tx
    .selectDistinct({ mandateId: authorizations.mandateId })
    .from(cardParts)
    .innerJoin(authorizations, eq(authorizations.authorizationId, cardParts.authorizationId))
    .where(ofKey(key));
  return rows.map(({ mandateId }) => mandateId);
}

/** The buckets in which a payment of now counts. They are made if they are missing. Call lockMandate before. */
export async function countIn(tx: Tx, mandateId: string, now: Date): Promise<Hold["buckets"]> {
  const row = await usageAndPolicy(tx, mandateId);
  const windows = row ? compilePolicy(row.policy, UNIT_DECIMALS).windows : [];
  const buckets = windows.map((window) => ({ ...bucketAt(window, now), ceiling: window.limit ?? null }));
  if (buckets.length > 0)
    await tx
      .insert(usageBuckets)
      .values(buckets.map((bucket) => ({ mandateId, ...bucket, spent: zero, reserved: zero, payments: 0 })))
      .onConflictDoNothing();
  return buckets.map(({ windowKey, start }) => [windowKey, start.getTime()]);
}

type NewCardAuthorization = Pick<
  CardAuthorizationRow,
  "connectionId" | "stripeId" | "organizationId" | "cardId" | "merchantName"
>;

/** One event of an authorization is handled at a time: the row is made if needed, and locked. Call lockMandate before. */
export async function lockCardAuthorization(tx: Tx, row: NewCardAuthorization): Promise<CardAuthorizationRow> {
  await tx.insert(cardAuthorizations).values(row).onConflictDoNothing();
  const [locked] = await tx
    .select()
    .from(cardAuthorizations)
    .where(and(eq(cardAuthorizations.connectionId, row.connectionId), eq(cardAuthorizations.stripeId, row.stripeId)))
    .for("no key update");
  return locked!;
}

export async function changeCardAuthorization(tx: Tx, { connectionId, stripeId }: Key, changes: Partial<CardAuthorizationRow>) {
  await tx
    .update(cardAuthorizations)
    .set(changes)
    .where(and(eq(cardAuthorizations.connectionId, connectionId), eq(cardAuthorizations.stripeId, stripeId)));
}

export const changeCardPart = (tx: Tx, authorizationId: string, changes: Pick<CardPartRow, "open" | "captured">) =>
  tx.update(cardParts).set(changes).where(eq(cardParts.authorizationId, authorizationId));

export type NewTransaction = Omit<typeof cardTransactions.$inferInsert, "createdAt">;

/** Returns the ids of those that were not known before. */
export async function insertCardTransactions(tx: Tx, transactions: readonly NewTransaction[]): Promise<readonly string[]> {
  if (transactions.length === 0) return [];
  const rows = await tx
    .insert(cardTransactions)
    .values([...transactions])
    .onConflictDoNothing()
    .returning({ id: cardTransactions.transactionId });
  return rows.map(({ id }) => id);
}

export async function capturesOf(tx: Tx, { connectionId, stripeId }: Key): Promise<ReadonlyMap<string, Atomic>> {
  const rows = await tx
    .select({ id: cardTransactions.transactionId, amount: cardTransactions.amount })
    .from(cardTransactions)
    .where(
      and(
        eq(cardTransactions.connectionId, connectionId),
        eq(cardTransactions.stripeId, stripeId),
        eq(cardTransactions.kind, "capture"),
      ),
    );
  return new Map(rows.map(({ id, amount }) => [id, amount]));
}

/** Expired authorizations that are not expected to be captured any more. */
export const overTails = (db: Database, limit: number): Promise<CardAuthorizationRow[]> =>
  db
    .select()
    .from(cardAuthorizations)
    .where(sql`tail_until <= statement_timestamp()`)
    .limit(limit);

/** Longer than Stripe lets any authorization live. */
const LIFE_SECONDS = 35 * 86_400;

/** Whether Stripe's events about the end of an authorization were lost. */
export const isForgotten = ({ status, toldAt }: CardAuthorizationRow): boolean =>
  status === "pending" && toldAt !== null && toldAt < Date.now() / 1000 - LIFE_SECONDS;

/** What is held although Stripe has told nothing of it until the decision's end, or nothing of its end. */
export const silentCards = (db: Database, limit: number): Promise<CardAuthorizationRow[]> =>
  db
    .selectDistinct(getTableColumns(cardAuthorizations))
    .from(cardParts)
    .innerJoin(authorizations, eq(authorizations.authorizationId, cardParts.authorizationId))
    .innerJoin(
      cardAuthorizations,
      and(eq(cardAuthorizations.connectionId, cardParts.connectionId), eq(cardAuthorizations.stripeId, cardParts.stripeId)),
    )
    .where(
      and(
        sql`${cardParts.open} > 0`,
        isNull(cardAuthorizations.asks),
        or(
          sql`${cardParts.position} >= coalesce(${cardAuthorizations.requests}, 0)`,
          and(
            eq(cardAuthorizations.status, "pending"),
            sql`${cardAuthorizations.toldAt} < extract(epoch FROM statement_timestamp()) - ${LIFE_SECONDS}::int`,
          ),
        ),
        sql`${authorizations.expiresAt} <= statement_timestamp()`,
      ),
    )
    .limit(limit);

/** Null unless a card pays under the authorization. */
export async function cardOfPayment(db: Database | Tx, authorizationId: string): Promise<CardAuthorizationRow | null> {
  const [row] = await db
    .select(getTableColumns(cardAuthorizations))
    .from(cardParts)
    .innerJoin(
      cardAuthorizations,
      and(eq(cardAuthorizations.connectionId, cardParts.connectionId), eq(cardAuthorizations.stripeId, cardParts.stripeId)),
    )
    .where(eq(cardParts.authorizationId, authorizationId));
  return row ?? null;
}

/** Whether a card paid under the authorization, also if it was denied. */
export async function hasCaptures(tx: Tx, authorizationId: string): Promise<boolean> {
  const [row] = await tx
    .select({ captured: cardParts.captured })
    .from(cardParts)
    .where(eq(cardParts.authorizationId, authorizationId));
  return row !== undefined && row.captured > zero;
}
