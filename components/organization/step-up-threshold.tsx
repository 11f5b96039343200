"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Field } from "#components/ui/field.tsx";
import { FormDialog } from "#components/ui/form-dialog.tsx";
import { useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";
import { setStepUpThreshold } from "#lib/identity/members/contract.ts";

type Props = { readonly organizationId: string; readonly above: string | null };

/** Sets or removes the amount above which an approval requires a confirmation of identity. */
export function StepUpThreshold({ organizationId, above }: Props) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const state = useOperationForm(setStepUpThreshold, {
    defaults: { above: above ?? "" },
    params: { organizationId },
    onDone: (set) => {
      setOpen(false);
      toast(set.above === undefined ? "The amount alone no longer asks for it" : `Asked above ${set.above}`);
      router.refresh();
    },
  });
  return (
    <FormDialog
      trigger="Change the amount"
      look={{ size: "small" }}
      title="Ask who approves"
      description="Above this amount an approval asks for the password or a passkey, also in a new session."
      open={open}
      onOpenChange={setOpen}
      state={state}
      nothing="The amount was not changed."
      submit="Save"
    >
      <Field
        label="Above"
        inputMode="decimal"
        autoComplete="off"
        hint="In whole units of the payment’s asset, such as 250 for 250 USDC. Leave empty for no such amount."
        {...state.field("above")}
      />
    </FormDialog>
  );
}
