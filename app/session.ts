import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { readSince } from "#lib/changes/read-since.ts";
import type { MemberCaller, SessionCaller } from "#lib/http/operation.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { authenticateReader } from "#lib/identity/sessions/authenticate.ts";

/** Null without a valid session, or if the person is banned. `cache` lets all parts of a page share one read. */
export const readCaller = cache(async (): Promise<SessionCaller | null> => authenticateReader((await headers()).get("cookie")));

/** Next.js does not tell a layout its address, so `proxy.ts` puts path and query into this header. */
export async function requestPath(): Promise<string> {
  return (await headers()).get("x-path") ?? "/";
}

/** Redirects to sign-in if readCaller returns null; after the sign-in the person returns to `path`. */
export async function requireCaller(path: string): Promise<SessionCaller> {
  return (await readCaller()) ?? redirect(withReturnTo("/sign-in", path));
}

/** Like requireCaller, but redirects to onboarding if the session has no active organization. */
export async function requireMember(path: string): Promise<MemberCaller> {
  const caller = await requireCaller(path);
  const { organizationId } = caller;
  return organizationId === null ? redirect(withReturnTo("/onboarding", path)) : { ...caller, organizationId };
}

/** Like requireMember, for pages that stay fresh: `since` is the audit log's sequence, after which the browser reads changes. */
export async function requireLiveMember(path: string) {
  const caller = await requireMember(path);
  return { ...caller, since: await readSince(caller.organizationId) };
}
