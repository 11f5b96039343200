import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { renamePasskey } from "#lib/identity/passkeys/rename-passkey.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.renamePasskey, renamePasskey));
