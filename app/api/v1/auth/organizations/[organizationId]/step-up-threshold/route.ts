import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { setStepUpThreshold } from "#lib/identity/members/set-step-up-threshold.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.setStepUpThreshold, setStepUpThreshold));
