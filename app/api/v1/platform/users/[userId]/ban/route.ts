import { methods, route } from "#lib/api/route.ts";
import { banUser as operation } from "#lib/platform/user-contract.ts";
import { banUser } from "#lib/platform/ban-user.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, banUser));
