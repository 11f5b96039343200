"use client";

import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import { call } from "#lib/http/client.ts";
import type { Passkey } from "#lib/identity/passkeys/contract.ts";
import { removePasskey } from "./calls.ts";

function Rename({ passkey: { passkeyId, name } }: { readonly passkey: Passkey }) {
  const dialog = useFormDialog(() => import("#lib/identity/passkeys/contract.ts").then((contract) => contract.renamePasskey), {
    defaults: { name },
    params: { passkeyId },
    done: "Renamed",
  });
  return (
    <FormDialog
      {...dialog}
      trigger="Rename"
      look={{ size: "small" }}
      title="Rename the passkey"
      nothing="Nothing was saved."
      submit="Rename"
    >
      <Field label="Name" maxLength={60} autoComplete="off" {...dialog.state.field("name")} />
    </FormDialog>
  );
}

const Remove = ({ passkey: { passkeyId, name } }: { readonly passkey: Passkey }) => (
  <ConfirmDialog
    trigger="Remove"
    look={{ size: "small" }}
    title={`Remove “${name}”`}
    description="It no longer signs in and no longer approves payments. Delete it on the device as well."
    action="Remove the passkey"
    nothing="The passkey was not removed."
    act={() => call(removePasskey, { passkeyId, body: {} })}
    done="Passkey removed"
  />
);

export const PasskeyActions = ({ last, passkey }: { readonly passkey: Passkey; readonly last: boolean }) => (
  <span className="actions">
    <Rename passkey={passkey} />
    {last ? <span className="text-muted text-sm">You cannot remove your only way to sign in</span> : <Remove passkey={passkey} />}
  </span>
);
