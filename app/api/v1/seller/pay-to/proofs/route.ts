import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sellers/pay-to/contract.ts";
import { provePayTo } from "#lib/sellers/pay-to/prove-pay-to.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.provePayTo, provePayTo));
