"use client";

import { Plus } from "lucide-react";
import { useState } from "react";
import { useWatch } from "react-hook-form";
import { Field } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import type { Capability } from "#lib/vocabulary.ts";
import { CapabilityGroups } from "./capability-groups.tsx";
import { presetsOf } from "./capability-words.ts";
import { KeyDialog, type MadeKey } from "./secret-dialog.tsx";

type Props = {
  readonly organizationId: string;
  readonly grantable: readonly Capability[];
  readonly next?: { readonly label: string; readonly href: string } | undefined;
};

const opener = (
  <>
    <Plus className="icon" aria-hidden />
    New service account
  </>
);

export function NewServiceAccount({ organizationId, grantable, next }: Props) {
  const [made, setMade] = useState<MadeKey | null>(null);
  const dialog = useFormDialog(() => import("#lib/identity/keys/contract.ts").then((contract) => contract.createServiceAccount), {
    defaults: { name: "", organizationId, capabilities: [...(presetsOf(grantable)[0]?.capabilities ?? [])] },
    refresh: "never",
    done: ({ apiKey, ...account }) => {
      if (apiKey !== undefined) setMade({ ...account, apiKey });
    },
  });
  const { form } = dialog.state;
  const chosen = useWatch({ control: form.control, name: "capabilities" }) ?? [];
  const { error: _, ...control } = dialog.state.field("capabilities");
  return (
    <>
      <FormDialog
        {...dialog}
        wide
        trigger={opener}
        look={{ tone: "primary" }}
        title="New service account"
        nothing="Nothing was created."
        submit="Create key"
      >
        <Field
          label="Name"
          autoComplete="off"
          maxLength={200}
          hint="It is shown on every approval request."
          {...dialog.state.field("name")}
        />
        <CapabilityGroups
          grantable={grantable}
          chosen={chosen}
          choose={(capabilities) => form.setValue("capabilities", capabilities)}
          control={control}
        />
      </FormDialog>
      <KeyDialog made={made} onSaved={() => setMade(null)} next={next} />
    </>
  );
}
