"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { atAddress } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
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
  const router = useRouter();
  const change = useMutation({
    ...mutation(paused ? resumeServiceAccount : pauseServiceAccount),
    onSuccess: () => {
      announce(paused ? "The agent is resumed" : "The agent is paused");
      router.refresh();
    },
  });
  return (
    <>
      {change.error && <ProblemNotice error={change.error} nothing="Nothing was changed." />}
      <Button
        size="small"
        className="whitespace-nowrap"
        aria-disabled={change.isPending}
        aria-busy={change.isPending}
        onClick={() => {
          if (!change.isPending) change.mutate({ id: serviceAccountId, body: {} });
        }}
      >
        {paused ? "Resume" : "Pause"} {label ?? "this agent"}
      </Button>
    </>
  );
}
