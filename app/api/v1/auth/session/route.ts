import { methods, route } from "#lib/api/route.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import * as contract from "#lib/identity/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getSession, getSession));
