"use client";

import { usePathname, useRouter } from "next/navigation";
import { useEffect } from "react";
import { atAddress, call, ProblemError } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/contract.ts";

const getSession = atAddress<typeof contract.getSession>({ id: "getSession", method: "GET", path: "/api/v1/auth/session" });
const EVERY_MS = 600_000;

/** For all pages that this tab has shown since it was loaded. */
let asked = 0;

/** Asks when it is shown, which is once for each page. */
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
 * Renews the session while somebody goes from page to page: a page cannot set a cookie, the API can, and does so when an hour of the
 * session was used. A session that has ended meanwhile leads to the sign-in page.
 */
export const KeepSession = () => <Asking key={usePathname()} />;
