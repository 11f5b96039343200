import { headers } from "next/headers";
import type { ReactNode } from "react";
import { SignInFrame } from "#components/identity/sign-in-frame.tsx";
import type { Ways } from "#components/identity/other-ways.tsx";
import { env } from "#lib/env.ts";
import { LOCAL_HEADER } from "#lib/http/local-request.ts";
import { authMethods, siweChainId } from "#lib/identity/sessions/auth-methods.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { readCaller } from "./session.ts";

export function Entrance({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { ENVIRONMENT, BASE_URL } = env();
  return (
    <SignInFrame environment={ENVIRONMENT} host={new URL(BASE_URL).host} title={title}>
      {children}
    </SignInFrame>
  );
}

export function waysIn(): Ways {
  const chainId = siweChainId();
  return { methods: authMethods(), siwe: chainId === null ? null : { chainId, origin: env().BASE_URL } };
}

const isLoopback = (host: string): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(host);

/** Mails contain sign-in links: only platform admins, and local requests if BASE_URL is a loopback address, may read them. */
export async function mayReadOutbox(): Promise<boolean> {
  if (mailDelivery() !== "outbox") return false;
  const local = (await headers()).get(LOCAL_HEADER) === "1" && isLoopback(new URL(env().BASE_URL).hostname);
  if (local) return true;
  const caller = await readCaller();
  return caller !== null && (await viewSession(caller.sessionId)).platformRoles.includes("admin");
}

export async function OutboxHint() {
  return (await mayReadOutbox()) ? (
    <p className="text-sm text-muted">
      This sandbox sends no mail. Read it in the <a href="/outbox">local outbox</a>.
    </p>
  ) : null;
}
