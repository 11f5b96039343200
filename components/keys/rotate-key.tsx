"use client";

import { useState } from "react";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import { Select } from "#components/ui/field.tsx";
import { KeyDialog, type MadeKey } from "./secret-dialog.tsx";

const graces = [
  ["0", "It stops now"],
  ["3600", "It works for another hour"],
  ["86400", "It works for another 24 hours"],
  ["604800", "It works for another 7 days"],
] as const;

export function RotateKey({ serviceAccountId, name }: { readonly serviceAccountId: string; readonly name: string }) {
  const [made, setMade] = useState<MadeKey | null>(null);
  const dialog = useFormDialog(
    () => import("#lib/identity/keys/contract.ts").then((contract) => contract.rotateServiceAccountKey),
    {
      defaults: { gracePeriodSeconds: 86_400 },
      params: { id: serviceAccountId },
      refresh: "never",
      done: ({ apiKey, ...account }) => {
        const grace = String(dialog.state.form.getValues("gracePeriodSeconds"));
        const graceText = graces.find(([seconds]) => seconds === grace)?.[1];
        if (apiKey !== undefined) setMade({ ...account, apiKey, ...(graceText !== undefined && { graceText }) });
      },
    },
  );
  return (
    <>
      <FormDialog
        {...dialog}
        trigger={
          <>
            Rotate<span className="sr"> the key of {name}</span>
          </>
        }
        look={{ size: "small" }}
        title={`Rotate the key of ${name}`}
        nothing="The key was not changed."
        submit="Make a new key"
      >
        <p className="text-sm">
          You get a new key with the same capabilities. At most two keys work: one that still works from an earlier rotation stops
          now.
        </p>
        <Select label="The key in use" options={graces} {...dialog.state.field("gracePeriodSeconds", { valueAsNumber: true })} />
      </FormDialog>
      <KeyDialog made={made} onSaved={() => setMade(null)} />
    </>
  );
}
