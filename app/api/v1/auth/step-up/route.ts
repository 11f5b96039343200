import { stepUp } from "#lib/approvals/step-up.ts";
import * as contract from "#lib/identity/contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.stepUp, stepUp));
