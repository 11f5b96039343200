"use client";

import { useRouter } from "next/navigation";
import { useId, useState } from "react";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";
import { updateMember, type Member } from "#lib/identity/member-contract.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";
import { roleName } from "#components/shell/menu-words.ts";
import { RoleChoices } from "./role-choices.tsx";

type Props = { readonly member: Member; readonly grantable: readonly MembershipRole[] };

/** Gives a member another role, which counts at once. */
export function ChangeRole({ member, grantable }: Props) {
  const id = useId();
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const { organizationId, userId, name, role } = member;
  const state = useOperationForm(updateMember, {
    defaults: { role },
    params: { organizationId, userId },
    onDone: (changed) => {
      setOpen(false);
      toast(`${changed.name} is ${roleName[changed.role].toLowerCase()} now`);
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
      trigger={
        <>
          Change role<span className="sr"> of {name}</span>
        </>
      }
      look={{ size: "small" }}
      title={`Role of ${name}`}
      description="It counts from the next request on, also where this person is signed in already."
      open={open}
      onOpenChange={change}
      footer={
        <>
          <DialogClose>Cancel</DialogClose>
          <Submit state={state} form={id}>
            Change role
          </Submit>
        </>
      }
    >
      <OperationForm state={state} id={id} nothing="The role is as it was.">
        <RoleChoices grantable={grantable} error={error} control={control} />
      </OperationForm>
    </Dialog>
  );
}
