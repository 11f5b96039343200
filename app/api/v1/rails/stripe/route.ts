import { methods, route } from "#lib/api/route.ts";
import { connectCards } from "#lib/cards/connect-cards.ts";
import * as contract from "#lib/cards/contract.ts";
import { listCardConnections } from "#lib/cards/list-card-connections.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listCardConnections, listCardConnections),
  route(contract.connectCards, connectCards),
);
