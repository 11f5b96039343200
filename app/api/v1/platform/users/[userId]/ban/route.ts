import { methods, route } from "#lib/api/route.ts";
import { banUser } from "#lib/platform/ban-user.ts";
import * as contract from "#lib/platform/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.banUser, banUser));
