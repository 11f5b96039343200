import { atAddress } from "#lib/http/client.ts";
import type * as passkeys from "#lib/identity/passkeys/contract.ts";
import type * as sessions from "#lib/identity/sessions/contract.ts";
import type * as push from "#lib/push/contract.ts";

export const addDevice = atAddress<typeof push.addDevice>({ id: "addDevice", method: "POST", path: "/api/v1/auth/devices" });

export const addPasskey = atAddress<typeof passkeys.addPasskey>({
  id: "addPasskey",
  method: "POST",
  path: "/api/v1/auth/passkeys",
});

export const challengePasskey = atAddress<typeof passkeys.challengePasskey>({
  id: "challengePasskey",
  method: "POST",
  path: "/api/v1/auth/passkey-challenges",
});

export const confirmIdentity = atAddress<typeof passkeys.confirmIdentity>({
  id: "confirmIdentity",
  method: "POST",
  path: "/api/v1/auth/confirm",
});

export const endOtherSessions = atAddress<typeof sessions.endOtherSessions>({
  id: "endOtherSessions",
  method: "POST",
  path: "/api/v1/auth/sessions/end-others",
});

export const endSession = atAddress<typeof sessions.endSession>({
  id: "endSession",
  method: "POST",
  path: "/api/v1/auth/sessions/{sessionId}/end",
});

export const registerPasskey = atAddress<typeof passkeys.registerPasskey>({
  id: "registerPasskey",
  method: "POST",
  path: "/api/v1/auth/passkey-registrations",
});

export const removeDevice = atAddress<typeof push.removeDevice>({
  id: "removeDevice",
  method: "POST",
  path: "/api/v1/auth/devices/{deviceId}/remove",
});

export const removePasskey = atAddress<typeof passkeys.removePasskey>({
  id: "removePasskey",
  method: "POST",
  path: "/api/v1/auth/passkeys/{passkeyId}/remove",
});

export { stepUp } from "#components/checkout/calls.ts";
