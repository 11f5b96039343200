"use client";

import { ReasonDialog } from "#components/ui/reason-dialog.tsx";
import { call } from "#lib/http/client.ts";
import { removeMember, type Member } from "#lib/identity/member-contract.ts";

/** Takes a person out of the organization, behind a reason. */
export const RemoveMember = ({ member }: { readonly member: Member }) => (
  <ReasonDialog
    trigger={
      <>
        Remove<span className="sr"> {member.name}</span>
      </>
    }
    look={{ tone: "warn", size: "small" }}
    title={`Remove ${member.name}`}
    action="Remove member"
    nothing="Nobody was removed."
    act={(reason) => call(removeMember, { organizationId: member.organizationId, userId: member.userId, body: { reason } })}
  >
    This person can do nothing in the organization from the next request on, and invitations that he or she sent are canceled.
    Service accounts, mandates and payments stay: they are the organization’s.
  </ReasonDialog>
);
