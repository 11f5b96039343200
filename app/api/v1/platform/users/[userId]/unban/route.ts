import { methods, route } from "#lib/api/route.ts";
import { unbanUser as operation } from "#lib/platform/user-contract.ts";
import { unbanUser } from "#lib/platform/unban-user.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, unbanUser));
