"use client";

import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/keys/contract.ts";

const pauseServiceAccount = atAddress<typeof contract.pauseServiceAccount>({
  id: "pauseServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/pause",
});
const resumeServiceAccount = atAddress<typeof contract.resumeServiceAccount>({
  id: "resumeServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/resume",
});

type Props = { readonly serviceAccountId: string; readonly paused: boolean; readonly label?: string };

/** Asks for no reason, because a pause can be undone at once. */
export function PauseAgent({ serviceAccountId, paused, label }: Props) {
  const { send, busy, error } = useOperation(paused ? resumeServiceAccount : pauseServiceAccount, {
    done: () => announce(paused ? "The agent is resumed" : "The agent is paused"),
  });
  return (
    <>
      <ProblemNotice error={error} nothing="Nothing was changed." />
      <Button
        size="small"
        className="whitespace-nowrap"
        aria-disabled={busy}
        aria-busy={busy}
        onClick={() => send({ id: serviceAccountId, body: {} })}
      >
        {paused ? "Resume" : "Pause"} {label ?? "this agent"}
      </Button>
    </>
  );
}
