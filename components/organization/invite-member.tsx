"use client";

import { UserPlus } from "lucide-react";
import { useRouter } from "next/navigation";
import { useId, useState } from "react";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";
import { inviteMember } from "#lib/identity/member-contract.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";
import { RoleChoices } from "./role-choices.tsx";

type Props = {
  readonly organizationId: string;
  readonly grantable: readonly MembershipRole[];
  /** Whether a mail goes out; else the page shows the link to hand on. */
  readonly mailed: boolean;
};

const opener = (
  <>
    <UserPlus className="icon" aria-hidden />
    Invite a member
  </>
);

/** Asks for an address and a role, and sends the invitation. */
export function InviteMember({ organizationId, grantable, mailed }: Props) {
  const id = useId();
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const state = useOperationForm(inviteMember, {
    defaults: { email: "", role: "viewer" },
    params: { organizationId },
    onDone: ({ email }) => {
      setOpen(false);
      toast(mailed ? `Invitation sent to ${email}` : `Hand the link of ${email} on: this service sends no mail`);
      router.refresh();
    },
  });
  const change = (next: boolean) => {
    if (next) state.reset();
    setOpen(next);
  };
  const { error, ...control } = state.field("role");
  return (
    <Dialog
      trigger={opener}
      look={{ tone: "primary" }}
      title="Invite a member"
      open={open}
      onOpenChange={change}
      footer={
        <>
          <DialogClose>Cancel</DialogClose>
          <Submit state={state} form={id}>
            {mailed ? "Send invitation" : "Make invitation"}
          </Submit>
        </>
      }
    >
      <OperationForm state={state} id={id} nothing="Nobody was invited.">
        <Field
          label="E-mail"
          type="email"
          autoComplete="off"
          spellCheck={false}
          hint="Only an account with this address can accept. The invitation holds for 48 hours."
          {...state.field("email")}
        />
        <RoleChoices grantable={grantable} error={error} control={control} />
      </OperationForm>
    </Dialog>
  );
}
