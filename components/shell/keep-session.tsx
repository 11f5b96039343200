"use client";

import { usePathname, useRouter } from "next/navigation";
import { useEffect } from "react";
import { atAddress, call, ProblemError } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

const getSession = atAddress<typeof contract.getSession>({ id: "getSession", method: "GET", path: "/api/v1/auth/session" });
const EVERY_MS = 600_000;

/** In milliseconds since 1970; all pages that were opened in this tab without a new load share it. */
let asked = 0;

/** Requests the session when it is mounted, which happens once per page, but at most every ten minutes. */
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

/** A page cannot set a cookie, but the API can, and renews the session once an hour. */
export const KeepSession = () => <Asking key={usePathname()} />;
