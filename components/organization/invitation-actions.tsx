"use client";

import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
import type { Invitation } from "#lib/identity/members/contract.ts";
import { cancelInvitation, inviteMember } from "./calls.ts";

/** Canceling asks for no confirmation, because the person can be invited again. */
export function InvitationActions({ invitation }: { readonly invitation: Invitation }) {
  const { organizationId, invitationId, email, role } = invitation;
  const acts = {
    again: () => call(inviteMember, { organizationId, body: { email, role } }),
    cancel: () => call(cancelInvitation, { organizationId, id: invitationId, body: {} }),
  };
  const { send, busy, error } = useOperation((act: keyof typeof acts): Promise<unknown> => acts[act](), {
    done: (_, act) => (act === "again" ? `Sent again to ${email}` : "Invitation canceled"),
  });
  return (
    <>
      <span className="actions">
        <Button size="small" aria-busy={busy} onClick={() => send("again")}>
          Send again<span className="sr"> to {email}</span>
        </Button>
        <Button size="small" tone="warn" aria-busy={busy} onClick={() => send("cancel")}>
          Cancel<span className="sr"> the invitation of {email}</span>
        </Button>
      </span>
      <ProblemNotice error={error} nothing="The invitation was not changed." />
    </>
  );
}
