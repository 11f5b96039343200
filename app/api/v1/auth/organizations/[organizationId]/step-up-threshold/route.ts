import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/organization-contract.ts";
import { setStepUpThreshold } from "#lib/identity/set-step-up-threshold.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.setStepUpThreshold, setStepUpThreshold));
