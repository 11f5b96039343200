import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.getSession, getSession));
