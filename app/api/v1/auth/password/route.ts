import { methods, route } from "#lib/api/route.ts";
import { changePassword } from "#lib/identity/sessions/change-password.ts";
import * as contract from "#lib/identity/sessions/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.changePassword, changePassword));
