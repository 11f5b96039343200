import { and, asc, eq, getTableColumns } from "drizzle-orm";
import { given } from "#lib/db/bulk.ts";
import type { Tx } from "#lib/db/client.ts";
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

export type NewCardPart = {
  readonly authorizationId: string;
  readonly connectionId: string;
  readonly stripeAuthorizationId: string;
  readonly position: number;
  readonly held: Atomic;
};

const newParts = given(
  "part",
  columnsOf<NewCardPart, typeof cardParts>(cardParts, {
    authorizationId: (row) => row.authorizationId,
    connectionId: (row) => row.connectionId,
    stripeId: (row) => row.stripeAuthorizationId,
    position: (row) => row.position,
    held: (row) => row.held,
    open: (row) => row.held,
  }),
);

export const insertCardParts = (c: Sql, parts: readonly NewCardPart[]) =>
  c.unsafe(`INSERT INTO card_parts (${newParts.names}) SELECT * FROM ${newParts.source}`, newParts.values(parts), {
    prepare: true,
  });

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
