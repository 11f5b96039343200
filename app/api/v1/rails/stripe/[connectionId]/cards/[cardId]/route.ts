import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/cards/contract.ts";
import { setCard } from "#lib/cards/set-card.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.setCard, setCard));
