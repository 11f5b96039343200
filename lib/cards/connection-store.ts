import { and, count, desc, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { cardConnections, cards } from "#lib/cards/tables.ts";

export type ConnectionRow = typeof cardConnections.$inferSelect;
export type CardRow = typeof cards.$inferSelect;
type Db = Database | Tx;
type Owner = { readonly organizationId: string; readonly environment: string };

/** Also after it was ended: what its cards hold is followed until the end. */
export async function findCardConnection(db: Db, connectionId: string, lock?: "no key update"): Promise<ConnectionRow | null> {
  const found = db.select().from(cardConnections).where(eq(cardConnections.connectionId, connectionId));
  const [row] = await (lock ? found.for(lock) : found);
  return row ?? null;
}

/** The connections that have a secret under one of these keys. */
export async function connectionsUnderKeys(db: Db, keyIds: readonly string[], limit: number): Promise<readonly string[]> {
  if (keyIds.length === 0) return [];
  const isUnder = sql`EXISTS (SELECT FROM unnest(${cardConnections.secrets}) AS s(sealed) WHERE split_part(sealed, '.', 2) IN ${[...keyIds]})`;
  const rows = await db.select({ connectionId: cardConnections.connectionId }).from(cardConnections).where(isUnder).limit(limit);
  return rows.map(({ connectionId }) => connectionId);
}

export async function lockOwnConnection(tx: Tx, owner: Owner, connectionId: string): Promise<ConnectionRow | null> {
  const [row] = await tx
    .select()
    .from(cardConnections)
    .where(and(eq(cardConnections.connectionId, connectionId), isNull(cardConnections.endedAt), ownedBy(owner)))
    .for("no key update");
  return row ?? null;
}

const ownedBy = ({ organizationId, environment }: Owner) =>
  and(eq(cardConnections.organizationId, organizationId), eq(cardConnections.environment, environment));

export const selectCardConnections = (db: Db, owner: Owner) =>
  db
    .select()
    .from(cardConnections)
    .where(and(ownedBy(owner), isNull(cardConnections.endedAt)))
    .orderBy(desc(cardConnections.connectionId));

export async function countConnections(tx: Tx, owner: Owner): Promise<number> {
  const [row] = await tx
    .select({ count: count() })
    .from(cardConnections)
    .where(and(ownedBy(owner), isNull(cardConnections.endedAt)));
  return row?.count ?? 0;
}

export const insertCardConnection = (tx: Tx, row: ConnectionRow) => tx.insert(cardConnections).values(row);

export const changeConnection = (tx: Tx, connectionId: string, changes: Partial<Pick<ConnectionRow, "secrets" | "endedAt">>) =>
  tx.update(cardConnections).set(changes).where(eq(cardConnections.connectionId, connectionId));

/** Null unless the card is mapped; with "also removed", as it was mapped last. */
export async function findCard(db: Db, connectionId: string, cardId: string, removed?: "also removed"): Promise<CardRow | null> {
  const isLive = removed ? undefined : isNull(cards.removedAt);
  const [row] = await db
    .select()
    .from(cards)
    .where(and(eq(cards.connectionId, connectionId), eq(cards.cardId, cardId), isLive));
  return row ?? null;
}

export const cardsOf = (db: Db, owner: Owner): Promise<CardRow[]> =>
  db
    .select(getTableColumns(cards))
    .from(cards)
    .innerJoin(cardConnections, eq(cardConnections.connectionId, cards.connectionId))
    .where(and(ownedBy(owner), isNull(cardConnections.endedAt), isNull(cards.removedAt)))
    .orderBy(cards.connectionId, cards.cardId);

export async function saveCard(tx: Tx, row: CardRow): Promise<void> {
  const { connectionId: _, cardId: __, ...set } = row;
  await tx
    .insert(cards)
    .values(row)
    .onConflictDoUpdate({ target: [cards.connectionId, cards.cardId], set });
}
