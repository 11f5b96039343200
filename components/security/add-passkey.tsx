"use client";

import { makePasskey } from "#components/identity/passkey-request.ts";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { call } from "#lib/http/client.ts";
import { addPasskey, registerPasskey } from "./calls.ts";

async function add(name: string) {
  const { options } = await call(registerPasskey, { body: {} });
  return call(addPasskey, { body: { name, credential: await makePasskey(options) } });
}

type Props = { readonly suggestion: string; readonly primary: boolean };

export const AddPasskey = ({ suggestion, primary }: Props) => (
  <ConfirmDialog
    trigger="Add a passkey"
    {...(primary && { look: { tone: "primary" as const } })}
    title="Add a passkey"
    description="Your device asks for your fingerprint, your face or its PIN. None of that leaves the device."
    action="Create the passkey"
    tone="primary"
    nothing="No passkey was added."
    act={(form) => add(formText(form, "name"))}
    done="Passkey added"
  >
    <Field
      label="Name"
      name="name"
      defaultValue={suggestion}
      hint="So that you know it again, such as the device it is on."
      maxLength={60}
      required
      autoComplete="off"
    />
  </ConfirmDialog>
);
