import { changePassword } from "#lib/identity/change-password.ts";
import * as contract from "#lib/identity/security-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.changePassword, changePassword));
