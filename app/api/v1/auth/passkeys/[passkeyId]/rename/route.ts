import { renamePasskey } from "#lib/identity/rename-passkey.ts";
import * as contract from "#lib/identity/passkey-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.renamePasskey, renamePasskey));
