import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/platform/contract.ts";
import { unbanUser } from "#lib/platform/unban-user.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.unbanUser, unbanUser));
