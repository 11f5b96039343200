"use client";

import { useRouter } from "next/navigation";
import { Choice } from "#components/ui/choice.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";
import { setNotices } from "#lib/notices/contract.ts";

/** How the person is told about requests that wait for their approval. */
export function NoticesForm({ mail }: { readonly mail: boolean }) {
  const router = useRouter();
  const state = useOperationForm(setNotices, {
    defaults: { mail },
    onDone: (saved) => {
      toast(saved.mail ? "You get mail about requests" : "You get no mail about requests");
      router.refresh();
    },
  });
  return (
    <OperationForm state={state} nothing="Nothing was changed." className="grid max-w-96 gap-5">
      <Choice type="checkbox" {...state.form.register("mail")}>
        <strong>Mail about requests</strong>
        <span>When a payment waits for your approval, and two reminders before it expires.</span>
      </Choice>
      <div className="actions">
        <Submit state={state}>Save</Submit>
      </div>
    </OperationForm>
  );
}
