import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { removePasskey } from "#lib/identity/passkeys/remove-passkey.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.removePasskey, removePasskey));
