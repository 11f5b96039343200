import { methods, route } from "#lib/api/route.ts";
import { addPasskey } from "#lib/identity/passkeys/add-passkey.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.addPasskey, addPasskey));
