import { methods, route } from "#lib/api/route.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as contract from "#lib/identity/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.completeOnboarding, completeOnboarding));
