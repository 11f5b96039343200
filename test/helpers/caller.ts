import { env } from "#lib/env.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import type { Credential } from "#test/tenant.ts";

/** The caller that a page gets for this session. */
export async function callerOf(credential: Credential) {
  const caller = await authenticate(new Request(env().BASE_URL, { headers: credential }));
  if (caller?.kind !== "session" || caller.organizationId === null) throw new Error("Nobody in an organization");
  return { ...caller, organizationId: caller.organizationId };
}
