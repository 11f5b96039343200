import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/platform/contract.ts";
import { updateUserRoles } from "#lib/platform/update-user-roles.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.updateUserRoles, updateUserRoles));
