"use client";

import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { requestAuth } from "./auth-request.ts";
import { Refusal } from "./refusal.tsx";

export function SwitchAccount({ next }: { readonly next: string }) {
  const leave = useOperation(() => requestAuth("sign-out", {}), {
    done: () => location.assign(next),
    refresh: "never",
    once: true,
  });
  return (
    <>
      <Refusal error={leave.error} />
      <Button tone="primary" size="large" disabled={leave.busy} onClick={() => leave.send()}>
        Switch account
      </Button>
    </>
  );
}
