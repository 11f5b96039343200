"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { toast } from "#components/ui/toast.tsx";
import { mutation } from "#lib/http/query.ts";
import type { Invitation } from "#lib/identity/members/contract.ts";
import { cancelInvitation, inviteMember } from "./calls.ts";

/** Canceling asks for no confirmation, because the person can be invited again. */
export function InvitationActions({ invitation }: { readonly invitation: Invitation }) {
  const { organizationId, invitationId, email, role } = invitation;
  const router = useRouter();
  const again = useMutation(mutation(inviteMember));
  const cancel = useMutation(mutation(cancelInvitation));
  const busy = again.isPending || cancel.isPending;
  const done = (text: string) => () => {
    toast(text);
    router.refresh();
  };
  const refused = again.error ?? cancel.error;
  return (
    <>
      <span className="actions">
        <Button
          size="small"
          aria-busy={busy}
          onClick={() =>
            busy || again.mutate({ organizationId, body: { email, role } }, { onSuccess: done(`Sent again to ${email}`) })
          }
        >
          Send again<span className="sr"> to {email}</span>
        </Button>
        <Button
          size="small"
          tone="warn"
          aria-busy={busy}
          onClick={() =>
            busy || cancel.mutate({ organizationId, id: invitationId, body: {} }, { onSuccess: done("Invitation canceled") })
          }
        >
          Cancel<span className="sr"> the invitation of {email}</span>
        </Button>
      </span>
      {refused && <ProblemNotice error={refused} nothing="The invitation was not changed." />}
    </>
  );
}
