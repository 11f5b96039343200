"use client";

import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { takeBackApproval } from "./calls.ts";

/** One click is enough, because no money moves. */
export function TakeBack({ checkoutIntentId }: { readonly checkoutIntentId: string }) {
  const { send, busy, error } = useOperation(takeBackApproval, {
    done: () => {
      announce("Approval taken back");
      document.getElementById("main")?.focus();
    },
    // Refresh the page after a refusal too, because the agent may have used the approval since the page was rendered.
    refresh: "always",
    once: true,
  });
  return (
    <div className="grid justify-items-start gap-2.5">
      <ProblemNotice error={error} nothing="The approval was not taken back." />
      <Button aria-disabled={busy} aria-busy={busy} onClick={() => send({ checkoutIntentId, body: {} })}>
        Take back
      </Button>
      <p className="text-sm text-muted">
        You can take it back until it is used. Then nothing is paid, and the same basket cannot be asked for again for an hour.
      </p>
    </div>
  );
}
