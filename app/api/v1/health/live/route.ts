import { methods, route } from "#lib/api/route.ts";
import { checkLiveness } from "#lib/health/check-liveness.ts";
import * as contract from "#lib/health/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.checkLiveness, checkLiveness));
