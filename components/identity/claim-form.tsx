"use client";

import { useId } from "react";
import { Field } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";

export function ClaimForm() {
  const id = useId();
  const state = useOperationForm(() => import("#lib/platform/contract.ts").then((contract) => contract.claimPlatform), {
    defaults: { setupCode: "" },
    done: () => location.assign("/admin"),
    refresh: "never",
    once: true,
  });
  return (
    <OperationForm id={id} state={state} nothing="You are no admin yet." aria-label="First platform admin">
      <Field
        label="Set-up code"
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
        hint="24 letters and digits. Hyphens and case do not matter."
        {...state.field("setupCode")}
      />
      <Submit state={state} form={id} size="large">
        Become platform admin
      </Submit>
    </OperationForm>
  );
}
