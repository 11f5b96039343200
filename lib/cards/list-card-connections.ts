import { cardsOf, selectCardConnections } from "#lib/cards/connection-store.ts";
import type * as contract from "#lib/cards/contract.ts";
import type { CardConnection } from "#lib/cards/contract.ts";
import { presentCardConnection } from "#lib/cards/present-card-connection.ts";
import { database } from "#lib/db/client.ts";
import type { Scope } from "#lib/db/scope.ts";
import type { Handler } from "#lib/http/operation.ts";

export async function readCardConnections(owner: Scope): Promise<CardConnection[]> {
  const [connections, cards] = await Promise.all([selectCardConnections(database(), owner), cardsOf(database(), owner)]);
  return connections.map((row) => presentCardConnection(row, cards));
}

export const listCardConnections: Handler<typeof contract.listCardConnections> = async (_, { caller }) => ({
  items: await readCardConnections(caller),
});
