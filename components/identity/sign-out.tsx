"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "#components/ui/button.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { requestAuth } from "./auth-request.ts";

export function SignOut() {
  const hydrated = useHydrated();
  const signOut = useMutation({
    mutationFn: () => requestAuth("sign-out", {}),
    onSuccess: () => location.assign("/sign-in"),
  });
  return (
    <Button tone="quiet" size="small" disabled={!hydrated || signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
