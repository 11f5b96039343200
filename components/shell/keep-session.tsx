"use client";

import { usePathname, useRouter } from "next/navigation";
import { useEffect } from "react";
import { atAddress, call, ProblemError } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

const getSession = atAddress<typeof contract.getSession>({ id: "getSession", method: "GET", path: "/api/v1/auth/session" });
const EVERY_MS = 600_000;

/** In milliseconds. Pages that were opened without a new load share this variable. */
let asked = 0;

/** A page requests the session at most once. If the session has ended, the refresh leads to sign-in. */
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

/** A page cannot set a cookie, so it calls the API, which renews the session and its cookie at most once an hour. */
export const KeepSession = () => <Asking key={usePathname()} />;
