import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/cards/contract.ts";
import { receiveCardEvent } from "#lib/cards/receive-card-event.ts";
import { updateCardConnection } from "#lib/cards/update-card-connection.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.receiveCardEvent, receiveCardEvent),
  route(contract.updateCardConnection, updateCardConnection),
);
