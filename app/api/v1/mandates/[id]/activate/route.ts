import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.activateMandate, activateMandate));
