"use client";

import { useRouter } from "next/navigation";
import { Field } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";

export function ChangePassword({ email }: { readonly email: string }) {
  const router = useRouter();
  const state = useOperationForm(() => import("#lib/identity/sessions/contract.ts").then((contract) => contract.changePassword), {
    defaults: { currentPassword: "", newPassword: "" },
    onDone: () => {
      state.reset();
      toast("Password changed. Your other sessions have ended.");
      router.refresh();
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
