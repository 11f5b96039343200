import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { pauseServiceAccount } from "#lib/identity/keys/pause-service-account.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.pauseServiceAccount, pauseServiceAccount));
