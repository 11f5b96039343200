import { methods, route } from "#lib/http/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/suspend-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.suspendMandate, suspendMandate));
