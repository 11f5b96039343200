import { methods, route } from "#lib/api/route.ts";
import { checkReadiness } from "#lib/commerce/check-readiness.ts";
import * as contract from "#lib/commerce/readiness-contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.checkReadiness, checkReadiness));
