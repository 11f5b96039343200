import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { endOtherSessions } from "#lib/identity/sessions/end-other-sessions.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.endOtherSessions, endOtherSessions));
