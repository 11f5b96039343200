"use client";

import { Field } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import { defaultStepUpLimits, type StepUpLimits } from "#lib/identity/step-up-limits.ts";

type Props = { readonly organizationId: string; readonly limits: { readonly [K in keyof StepUpLimits]: string | null } };

export function StepUpThreshold({ organizationId, limits }: Props) {
  const dialog = useFormDialog(
    () => import("#lib/identity/members/contract.ts").then((contract) => contract.setStepUpThreshold),
    {
      defaults: { above: limits.above ?? "", aboveUnverified: limits.aboveUnverified ?? "" },
      params: { organizationId },
      done: (set) => {
        const { above, aboveUnverified } = { ...defaultStepUpLimits, ...set };
        return `Asked above ${above}, and above ${aboveUnverified} for payees that are not verified`;
      },
    },
  );
  return (
    <FormDialog
      {...dialog}
      trigger="Change the amounts"
      look={{ size: "small" }}
      title="Ask who approves"
      description="Above these amounts an approval asks for the password or a passkey, also in a new session. What the person let through in the last 24 hours counts."
      nothing="The amounts were not changed."
      submit="Save"
    >
      <Field
        label="Above"
        inputMode="decimal"
        autoComplete="off"
        hint={`In whole units of the payment’s asset, such as 250 for 250 USDC. Leave empty for ${defaultStepUpLimits.above}.`}
        {...dialog.state.field("above")}
      />
      <Field
        label="Above, for a payee that is not verified"
        inputMode="decimal"
        autoComplete="off"
        hint={`Leave empty for ${defaultStepUpLimits.aboveUnverified}.`}
        {...dialog.state.field("aboveUnverified")}
      />
    </FormDialog>
  );
}
