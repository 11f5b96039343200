import type { CardRow, ConnectionRow } from "#lib/cards/connection-store.ts";
import type { Card, CardConnection } from "#lib/cards/contract.ts";
import { env } from "#lib/env.ts";
import { toWire } from "#lib/time.ts";

export const presentCard = ({ cardId, name, mandateId, subjectId, createdAt }: CardRow): Card => ({
  cardId,
  name,
  mandateId,
  serviceAccountId: subjectId,
  createdAt: toWire(createdAt),
});

export const presentCardConnection = (row: ConnectionRow, cards: readonly CardRow[]): CardConnection => ({
  connectionId: row.connectionId,
  name: row.name,
  webhookUrl: `${env().BASE_URL}/api/v1/rails/stripe/${row.connectionId}`,
  secrets: row.secrets.length,
  cards: cards.filter(({ connectionId }) => connectionId === row.connectionId).map(presentCard),
  createdAt: toWire(row.createdAt),
});
