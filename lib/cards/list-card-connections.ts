import { cardsOf, selectCardConnections } from "#lib/cards/connection-store.ts";
import type * as contract from "#lib/cards/contract.ts";
import { presentCardConnection } from "#lib/cards/present-card-connection.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";

export const listCardConnections: Handler<typeof contract.listCardConnections> = async (_, { caller }) => {
  const [connections, cards] = await Promise.all([selectCardConnections(database(), caller), cardsOf(database(), caller)]);
  return { items: connections.map((row) => presentCardConnection(row, cards)) };
};
