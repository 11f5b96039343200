import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/billing/contract.ts";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.assignSubscription, assignSubscription));
