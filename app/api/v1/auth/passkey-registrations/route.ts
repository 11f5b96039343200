import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { registerPasskey } from "#lib/identity/passkeys/register-passkey.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.registerPasskey, registerPasskey));
