"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "#components/ui/button.tsx";
import { requestAuth } from "./auth-request.ts";
import { Refusal } from "./refusal.tsx";

export function SwitchAccount({ next }: { readonly next: string }) {
  const leave = useMutation({ mutationFn: () => requestAuth("sign-out", {}), onSuccess: () => location.assign(next) });
  return (
    <>
      <Refusal error={leave.error} />
      <Button tone="primary" size="large" disabled={leave.isPending || leave.isSuccess} onClick={() => leave.mutate()}>
        Switch account
      </Button>
    </>
  );
}
