import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.revokeMandate, revokeMandate));
