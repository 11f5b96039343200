import { methods, route } from "#lib/http/route.ts";
import { activateMandate } from "#lib/mandates/activate-mandate.ts";
import * as contract from "#lib/mandates/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.activateMandate, activateMandate));
