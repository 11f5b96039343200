import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { endSession } from "#lib/identity/sessions/end-session.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.endSession, endSession));
