"use client";

import { usePathname, useRouter } from "next/navigation";
import { useEffect } from "react";
import { atAddress, call, ProblemError } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

const getSession = atAddress<typeof contract.getSession>({ id: "getSession", method: "GET", path: "/api/v1/auth/session" });
const EVERY_MS = 600_000;

/** The time of the last request in milliseconds, shared by all pages of this tab since it was loaded. */
let asked = 0;

/** Requests the session when it mounts, once per page and at most every ten minutes. */
function Asking() {
  const router = useRouter();
  useEffect(() => {
    if (Date.now() - asked < EVERY_MS) return;
    asked = Date.now();
    call(getSession, {}).catch((error: unknown) => {
      asked = 0;
      if (error instanceof ProblemError && error.problem.status === 401) router.refresh();
    });
  }, [router]);
  return null;
}

/**
 * Renews the session while people navigate: a page cannot set a cookie, but the API can, and does so once an hour of the session has
 * passed. If the session has ended, the refresh leads to the sign-in page.
 */
export const KeepSession = () => <Asking key={usePathname()} />;
