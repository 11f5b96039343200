"use client";

import { Field } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";

export function ChangePassword({ email }: { readonly email: string }) {
  const state = useOperationForm(() => import("#lib/identity/sessions/contract.ts").then((contract) => contract.changePassword), {
    defaults: { currentPassword: "", newPassword: "" },
    done: () => {
      state.reset();
      return "Password changed. Your other sessions have ended.";
    },
  });
  return (
    <OperationForm state={state} nothing="The password was not changed." className="grid max-w-96 gap-5">
      {/* Password managers store the new password under this user name. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label="Current password" type="password" autoComplete="current-password" {...state.field("currentPassword")} />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters. Every other session of yours ends."
        {...state.field("newPassword")}
      />
      <div className="actions">
        <Submit state={state}>Change the password</Submit>
      </div>
    </OperationForm>
  );
}
