import { methods, route } from "#lib/api/route.ts";
import { revokeUserSessions as operation } from "#lib/platform/user-contract.ts";
import { revokeUserSessions } from "#lib/platform/revoke-user-sessions.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, revokeUserSessions));
