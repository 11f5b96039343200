"use client";

import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { endOtherSessions, endSession } from "./calls.ts";

const counted = (count: number): string => (count === 1 ? "1 session ended" : `${count} sessions ended`);

export function EndSession({ sessionId, device }: { readonly sessionId: string; readonly device: string }) {
  const { send, busy, error } = useOperation(endSession, { done: "Session ended" });
  return (
    <>
      <Button
        size="small"
        aria-label={`End the session: ${device}`}
        aria-busy={busy}
        onClick={() => send({ sessionId, body: {} })}
      >
        End
      </Button>
      <ProblemNotice error={error} nothing="The session was not ended." />
    </>
  );
}

export function EndOtherSessions() {
  const { send, busy, error } = useOperation(endOtherSessions, { done: ({ endedCount }) => counted(endedCount) });
  return (
    <>
      <Button size="small" aria-busy={busy} onClick={() => send({ body: {} })}>
        End all other sessions
      </Button>
      <ProblemNotice error={error} nothing="No session was ended." />
    </>
  );
}
