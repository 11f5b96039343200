import { addPasskey } from "#lib/identity/add-passkey.ts";
import * as contract from "#lib/identity/passkey-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.addPasskey, addPasskey));
