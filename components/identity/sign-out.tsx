"use client";

import { Button } from "#components/ui/button.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { useSignOut } from "./leave.ts";

export function SignOut() {
  const hydrated = useHydrated();
  const signOut = useSignOut();
  return (
    <Button tone="quiet" size="small" disabled={!hydrated || signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
