import { checkLiveness } from "#lib/health/check-liveness.ts";
import * as contract from "#lib/health/contract.ts";
import { methods, route } from "#lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.checkLiveness, checkLiveness));
