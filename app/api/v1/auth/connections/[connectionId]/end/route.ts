import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { endConnection } from "#lib/identity/oauth/end-connection.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.endConnection, endConnection));
