"use client";

import { UserPlus } from "lucide-react";
import { Field } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import type { MembershipRole } from "#lib/vocabulary.ts";
import { RoleChoices } from "./role-choices.tsx";

type Props = {
  readonly organizationId: string;
  readonly grantable: readonly MembershipRole[];
  /** If false, the page shows a link to share. */
  readonly mailed: boolean;
};

const opener = (
  <>
    <UserPlus className="icon" aria-hidden />
    Invite a member
  </>
);

export function InviteMember({ organizationId, grantable, mailed }: Props) {
  const dialog = useFormDialog(() => import("#lib/identity/members/contract.ts").then((contract) => contract.inviteMember), {
    defaults: { email: "", role: "viewer" },
    params: { organizationId },
    done: ({ email }) => (mailed ? `Invitation sent to ${email}` : `Give ${email} the link yourself: this service sends no mail`),
  });
  const { error, ...control } = dialog.state.field("role");
  return (
    <FormDialog
      {...dialog}
      trigger={opener}
      look={{ tone: "primary" }}
      title="Invite a member"
      nothing="Nobody was invited."
      submit={mailed ? "Send invitation" : "Make invitation"}
    >
      <Field
        label="E-mail"
        type="email"
        autoComplete="off"
        spellCheck={false}
        hint="Only an account with this address can accept. The invitation is valid for 48 hours."
        {...dialog.state.field("email")}
      />
      <RoleChoices grantable={grantable} error={error} control={control} />
    </FormDialog>
  );
}
