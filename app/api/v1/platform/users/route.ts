import { methods, route } from "#lib/api/route.ts";
import { listUsers as operation } from "#lib/platform/user-contract.ts";
import { listUsers } from "#lib/platform/list-users.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, listUsers));
