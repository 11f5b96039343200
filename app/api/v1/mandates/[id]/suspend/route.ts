import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.suspendMandate, suspendMandate));
