import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/platform/contract.ts";
import { revokeUserSessions } from "#lib/platform/revoke-user-sessions.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.revokeUserSessions, revokeUserSessions));
