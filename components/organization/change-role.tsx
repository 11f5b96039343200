"use client";

import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import type { Member } from "#lib/identity/members/contract.ts";
import { Select } from "#components/ui/field.tsx";
import type { ShownKey } from "#lib/pages/settings/view-members.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";
import { roleName } from "#components/shell/menu-words.ts";
import { RoleChoices } from "./role-choices.tsx";

type Props = { readonly member: Member; readonly grantable: readonly MembershipRole[]; readonly keys: readonly ShownKey[] };

const keyChoices = [
  ["", "Choose if the new role can do less"],
  ["revoke", "Revoke those that can do more than the new role"],
  ["keep", "Keep them working"],
] as const;

export function ChangeRole({ member, grantable, keys }: Props) {
  const { organizationId, userId, name, role } = member;
  const dialog = useFormDialog(() => import("#lib/identity/members/contract.ts").then((contract) => contract.updateMember), {
    defaults: { role },
    params: { organizationId, userId },
    done: (changed) => `${changed.name} is ${roleName[changed.role].toLowerCase()} now`,
  });
  const { error, ...control } = dialog.state.field("role");
  return (
    <FormDialog
      {...dialog}
      trigger={
        <>
          Change role<span className="sr"> of {name}</span>
        </>
      }
      look={{ size: "small" }}
      title={`Role of ${name}`}
      description="It applies from the next request on, also where this person is signed in already."
      nothing="The role was not changed."
      submit="Change role"
    >
      <RoleChoices grantable={grantable} error={error} control={control} />
      {keys.length > 0 && (
        <Select
          label="Keys that this person made"
          hint="They have seen these keys. Your choice applies to those that can do more than the new role."
          options={keyChoices}
          {...dialog.state.field("keys")}
        />
      )}
    </FormDialog>
  );
}
