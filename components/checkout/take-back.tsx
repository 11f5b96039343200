"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { mutation } from "#lib/http/query.ts";
import { takeBackApproval } from "./calls.ts";

/** One click is enough, because no money moves. */
export function TakeBack({ checkoutIntentId }: { readonly checkoutIntentId: string }) {
  const router = useRouter();
  const taking = useMutation({
    ...mutation(takeBackApproval),
    onSuccess: () => {
      announce("Approval taken back");
      document.getElementById("main")?.focus();
    },
    // Refresh the page after a refusal too, because the agent may have used the approval since the page was rendered.
    onSettled: () => router.refresh(),
  });
  const busy = taking.isPending || taking.isSuccess;
  return (
    <div className="grid justify-items-start gap-2.5">
      {taking.error && <ProblemNotice error={taking.error} nothing="The approval was not taken back." />}
      <Button
        aria-disabled={busy}
        aria-busy={busy}
        onClick={() => {
          if (!busy) taking.mutate({ checkoutIntentId, body: {} });
        }}
      >
        Take back
      </Button>
      <p className="text-sm text-muted">
        You can take it back until it is used. Then nothing is paid, and the same basket cannot be asked for again for an hour.
      </p>
    </div>
  );
}
