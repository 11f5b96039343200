import { endOtherSessions } from "#lib/identity/sessions/end-other-sessions.ts";
import * as contract from "#lib/identity/sessions/security-contract.ts";
import { methods, route } from "#lib/api/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.endOtherSessions, endOtherSessions));
