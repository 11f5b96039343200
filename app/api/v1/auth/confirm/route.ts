import { methods, route } from "#lib/api/route.ts";
import { confirmIdentity } from "#lib/identity/passkeys/confirm-identity.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.confirmIdentity, confirmIdentity));
