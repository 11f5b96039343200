"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { toast } from "#components/ui/toast.tsx";
import { mutation } from "#lib/http/query.ts";
import { endOtherSessions, endSession } from "./calls.ts";

const counted = (count: number): string => (count === 1 ? "1 session ended" : `${count} sessions ended`);

export function EndSession({ sessionId, device }: { readonly sessionId: string; readonly device: string }) {
  const router = useRouter();
  const ended = useMutation({
    ...mutation(endSession),
    onSuccess: () => {
      toast("Session ended");
      router.refresh();
    },
  });
  return (
    <>
      <Button
        size="small"
        aria-label={`End the session: ${device}`}
        aria-busy={ended.isPending}
        onClick={() => !ended.isPending && ended.mutate({ sessionId, body: {} })}
      >
        End
      </Button>
      {ended.error && <ProblemNotice error={ended.error} nothing="The session was not ended." />}
    </>
  );
}

export function EndOtherSessions() {
  const router = useRouter();
  const ended = useMutation({
    ...mutation(endOtherSessions),
    onSuccess: ({ endedCount }) => {
      toast(counted(endedCount));
      router.refresh();
    },
  });
  return (
    <>
      <Button size="small" aria-busy={ended.isPending} onClick={() => !ended.isPending && ended.mutate({ body: {} })}>
        End all other sessions
      </Button>
      {ended.error && <ProblemNotice error={ended.error} nothing="No session was ended." />}
    </>
  );
}
