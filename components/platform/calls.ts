import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/platform/contract.ts";

export const banUser = atAddress<typeof contract.banUser>({
  id: "banUser",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/ban",
});

export const revokeUserSessions = atAddress<typeof contract.revokeUserSessions>({
  id: "revokeUserSessions",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/sessions/revoke",
});

export const unbanUser = atAddress<typeof contract.unbanUser>({
  id: "unbanUser",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/unban",
});
