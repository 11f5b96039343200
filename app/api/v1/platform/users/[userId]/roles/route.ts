import { methods, route } from "#lib/api/route.ts";
import { updateUserRoles as operation } from "#lib/platform/user-contract.ts";
import { updateUserRoles } from "#lib/platform/update-user-roles.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, updateUserRoles));
