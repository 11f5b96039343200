"use client";

import { Button } from "#components/ui/button.tsx";
import { useSignOut } from "./leave.ts";

export function SignOut() {
  const signOut = useSignOut();
  return (
    <Button tone="quiet" size="small" disabled={signOut.busy} onClick={() => signOut.send()}>
      Sign out
    </Button>
  );
}
