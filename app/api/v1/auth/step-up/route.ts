import { stepUp } from "#lib/identity/step-up.ts";
import * as contract from "#lib/identity/contract.ts";
import { methods, route } from "#lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.stepUp, stepUp));
