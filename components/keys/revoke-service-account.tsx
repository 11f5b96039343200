"use client";

import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { call } from "#lib/http/client.ts";
import { revokeServiceAccount } from "./calls.ts";

type Props = { readonly serviceAccountId: string; readonly name: string };

export const RevokeServiceAccount = ({ serviceAccountId, name }: Props) => (
  <ReasonDialog
    trigger={
      <>
        Revoke<span className="sr"> {name}</span>
      </>
    }
    look={{ tone: "warn", size: "small" }}
    title={`Revoke ${name}`}
    action="Revoke service account"
    nothing="Nothing was revoked."
    act={(reason) => call(revokeServiceAccount, { id: serviceAccountId, body: { reason } })}
  >
    Its keys are refused from the next request on. Payments that were submitted before are followed to their end. This cannot be
    undone.
  </ReasonDialog>
);
