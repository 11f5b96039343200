import { methods, route } from "#lib/http/route.ts";
import { activateMandate as operation } from "#lib/mandates/contract.ts";
import { activateMandate } from "#lib/mandates/activate-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, activateMandate));
