"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { toast } from "#components/ui/toast.tsx";
import { mutation } from "#lib/http/query.ts";
import type { Passkey } from "#lib/identity/passkeys/contract.ts";
import { removePasskey } from "./calls.ts";

function Rename({ passkey: { passkeyId, name } }: { readonly passkey: Passkey }) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const state = useOperationForm(() => import("#lib/identity/passkeys/contract.ts").then((contract) => contract.renamePasskey), {
    defaults: { name },
    params: { passkeyId },
    onDone: () => {
      setOpen(false);
      toast("Renamed");
      router.refresh();
    },
  });
  return (
    <Dialog trigger="Rename" look={{ size: "small" }} title="Rename the passkey" open={open} onOpenChange={setOpen}>
      <OperationForm state={state} nothing="Nothing was saved.">
        <Field label="Name" maxLength={60} autoComplete="off" {...state.field("name")} />
        <div className="actions">
          <Submit state={state}>Rename</Submit>
        </div>
      </OperationForm>
    </Dialog>
  );
}

type RemoveProps = { readonly passkey: Passkey };

function Remove({ passkey: { passkeyId, name } }: RemoveProps) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const removed = useMutation({
    ...mutation(removePasskey),
    onSuccess: () => {
      setOpen(false);
      toast("Passkey removed");
      router.refresh();
    },
  });
  return (
    <Dialog
      trigger="Remove"
      look={{ size: "small" }}
      title={`Remove “${name}”`}
      description="It no longer signs in and no longer approves payments. Delete it on the device as well."
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        removed.reset();
      }}
    >
      <div className="grid gap-5">
        {removed.error && <ProblemNotice error={removed.error} nothing="The passkey was not removed." />}
        <div className="actions">
          <DialogClose>Keep it</DialogClose>
          <Button
            tone="danger"
            aria-busy={removed.isPending}
            onClick={() => !removed.isPending && removed.mutate({ passkeyId, body: {} })}
          >
            Remove the passkey
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

type Props = RemoveProps & { readonly last: boolean };

export function PasskeyActions({ last, ...props }: Props) {
  return (
    <span className="actions">
      <Rename passkey={props.passkey} />
      {last ? <span className="text-muted text-sm">You cannot remove your only way to sign in</span> : <Remove {...props} />}
    </span>
  );
}
