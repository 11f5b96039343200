"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Field } from "#components/ui/field.tsx";
import { FormDialog } from "#components/ui/form-dialog.tsx";
import { useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";
import { defaultStepUpLimits, type StepUpLimits } from "#lib/identity/step-up-limits.ts";

type Props = { readonly organizationId: string; readonly limits: { readonly [K in keyof StepUpLimits]: string | null } };

export function StepUpThreshold({ organizationId, limits }: Props) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const state = useOperationForm(
    () => import("#lib/identity/members/contract.ts").then((contract) => contract.setStepUpThreshold),
    {
      defaults: { above: limits.above ?? "", aboveUnverified: limits.aboveUnverified ?? "" },
      params: { organizationId },
      onDone: (set) => {
        setOpen(false);
        const { above, aboveUnverified } = { ...defaultStepUpLimits, ...set };
        toast(`Asked above ${above}, and above ${aboveUnverified} for payees that are not verified`);
        router.refresh();
      },
    },
  );
  return (
    <FormDialog
      trigger="Change the amounts"
      look={{ size: "small" }}
      title="Ask who approves"
      description="Above these amounts an approval asks for the password or a passkey, also in a new session. What the person approved in the last 24 hours counts."
      open={open}
      onOpenChange={setOpen}
      state={state}
      nothing="The amounts were not changed."
      submit="Save"
    >
      <Field
        label="Above"
        inputMode="decimal"
        autoComplete="off"
        hint={`In whole units of the payment’s asset, such as 250 for 250 USDC. Leave empty for ${defaultStepUpLimits.above}.`}
        {...state.field("above")}
      />
      <Field
        label="Above, for a payee that is not verified"
        inputMode="decimal"
        autoComplete="off"
        hint={`Leave empty for ${defaultStepUpLimits.aboveUnverified}.`}
        {...state.field("aboveUnverified")}
      />
    </FormDialog>
  );
}
