import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/approvals/decision/contract.ts";
import { stepUp } from "#lib/approvals/decision/step-up.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.stepUp, stepUp));
