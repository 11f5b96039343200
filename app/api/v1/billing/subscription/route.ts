import { methods, route } from "#lib/api/route.ts";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as contract from "#lib/billing/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.assignSubscription, assignSubscription));
