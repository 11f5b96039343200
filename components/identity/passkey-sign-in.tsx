"use client";

import { KeyRound } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { Or } from "./or.tsx";
import { PasskeyRefusal, signWithPasskey } from "./passkey-request.ts";

const BASE = "/api/auth/passkey";

async function read(response: Response): Promise<unknown> {
  if (response.ok) return response.json();
  if (response.status === 429) throw new PasskeyRefusal("Too many tries. Wait a minute, then try again.");
  throw new PasskeyRefusal("This passkey does not sign in here. It may have been removed from the account.");
}

async function signIn(): Promise<void> {
  const options = (await read(await fetch(`${BASE}/generate-authenticate-options`))) as { challenge: string; rpId: string };
  const response = await signWithPasskey(options);
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ response }) };
  await read(await fetch(`${BASE}/verify-authentication`, init));
}

export function PasskeySignIn({ returnTo }: { readonly returnTo: string }) {
  // Load a whole page, so that nothing from before the sign-in is reused.
  const asked = useOperation(signIn, { done: () => location.assign(returnTo), refresh: "never", once: true });
  return (
    <>
      {asked.error && (
        <Notice tone="danger" role="alert">
          <p>{asked.error instanceof PasskeyRefusal ? asked.error.message : "We could not reach the service. Try again."}</p>
        </Notice>
      )}
      <Button size="large" aria-busy={asked.busy} onClick={() => asked.send()}>
        <KeyRound className="icon" aria-hidden />
        Sign in with a passkey
      </Button>
      <Or>or with your e-mail address</Or>
    </>
  );
}
