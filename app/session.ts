import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { env } from "#lib/env.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { isProblem } from "#lib/problem.ts";

/** Who looks at this page, read from the cookie that came with the request. An ended session is nobody. Read once for a page. */
export const readCaller = cache(async (): Promise<SessionCaller | null> => {
  const cookie = (await headers()).get("cookie");
  if (cookie === null) return null;
  try {
    // A page cannot set a cookie; KeepSession, which each signed-in page carries, renews the session.
    const caller = await authenticate(new Request(env().BASE_URL, { headers: { cookie } }), { renew: false });
    return caller?.kind === "session" ? caller : null;
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
});

/** Path and query of this page, for those that do not know it: layouts. */
export async function requestPath(): Promise<string> {
  return (await headers()).get("x-path") ?? "/";
}

/** As readCaller, by way of the sign-in page, which comes back to `path`. */
export async function requireCaller(path: string): Promise<SessionCaller> {
  return (await readCaller()) ?? redirect(withReturnTo("/sign-in", path));
}

/** As requireCaller, with an active organization: by way of onboarding for somebody who has none. */
export async function requireMember(path: string): Promise<SessionCaller & { readonly organizationId: string }> {
  const caller = await requireCaller(path);
  const { organizationId } = caller;
  return organizationId === null ? redirect(withReturnTo("/onboarding", path)) : { ...caller, organizationId };
}
