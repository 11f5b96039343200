import { cardConnections } from "#lib/cards/tables.ts";
import { database } from "#lib/db/client.ts";
import { cardAuthorizations, cardParts } from "#lib/holds/card-tables.ts";
import { newId } from "#lib/ids.ts";
import { zero } from "#lib/money.ts";

/** The rows of a connection with a card that paid under the authorization; `name` stands in each. Returns the connection's id. */
export async function storedCard(organizationId: string, authorizationId: string, name: string): Promise<string> {
  const connectionId = newId("cardConnection");
  const stripe = { organizationId, environment: "sandbox", name, secrets: [name], createdBy: name };
  const key = { connectionId, stripeId: name };
  await database()
    .insert(cardConnections)
    .values({ ...stripe, connectionId });
  await database()
    .insert(cardAuthorizations)
    .values({ ...key, organizationId, cardId: name });
  await database()
    .insert(cardParts)
    .values({ ...key, authorizationId, position: 0, held: zero, open: zero });
  return connectionId;
}
