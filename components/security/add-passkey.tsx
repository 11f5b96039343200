"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { makePasskey } from "#components/identity/passkey-request.ts";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { toast } from "#components/ui/toast.tsx";
import { call } from "#lib/http/client.ts";
import { addPasskey, registerPasskey } from "./calls.ts";

async function add(name: string) {
  const { options } = await call(registerPasskey, { body: {} });
  return call(addPasskey, { body: { name, credential: await makePasskey(options) } });
}

type Props = { readonly suggestion: string; readonly primary: boolean };

export function AddPasskey({ suggestion, primary }: Props) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const made = useMutation({
    mutationFn: add,
    onSuccess: () => {
      setOpen(false);
      toast("Passkey added");
      router.refresh();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!made.isPending) made.mutate(formText(new FormData(event.currentTarget), "name"));
  };
  const change = (next: boolean) => {
    setOpen(next);
    made.reset();
  };
  return (
    <Dialog
      trigger="Add a passkey"
      {...(primary && { look: { tone: "primary" as const } })}
      title="Add a passkey"
      description="Your device asks for your fingerprint, your face or its PIN. None of that leaves the device."
      open={open}
      onOpenChange={change}
    >
      <form className="grid gap-5" method="post" onSubmit={submit}>
        <Field
          label="Name"
          name="name"
          defaultValue={suggestion}
          hint="So that you know it again, such as the device it is on."
          maxLength={60}
          required
          autoComplete="off"
        />
        {made.error && <ProblemNotice error={made.error} nothing="No passkey was added." />}
        <div className="actions">
          <Button tone="primary" type="submit" aria-busy={made.isPending}>
            Create the passkey
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
