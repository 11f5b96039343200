import { renamePasskey } from "#lib/identity/passkeys/rename-passkey.ts";
import * as contract from "#lib/identity/passkeys/passkey-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.renamePasskey, renamePasskey));
