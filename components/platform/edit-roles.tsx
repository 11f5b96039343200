"use client";

import { useRouter } from "next/navigation";
import { Choice } from "#components/ui/choice.tsx";
import { TextArea } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { toast } from "#components/ui/toast.tsx";
import { updateUserRoles, type PlatformUser } from "#lib/platform/user-contract.ts";
import { platformRoles, REASON_MIN } from "./role-words.ts";

type Props = {
  readonly user: Pick<PlatformUser, "userId" | "name" | "platformRoles">;
  /** Nobody gives himself a role, so what the reader does not have is off. */
  readonly self: boolean;
};

/** Gives and takes platform roles, behind a reason. They count from the next request on. */
export function EditRoles({ user, self }: Props) {
  const router = useRouter();
  const state = useOperationForm(updateUserRoles, {
    defaults: { platformRoles: [...user.platformRoles], reason: "" },
    params: { userId: user.userId },
    onDone: (saved) => {
      toast(`${saved.name} is ${saved.platformRoles.toReversed().join(", ")} now`);
      state.form.resetField("reason", { defaultValue: "" });
      router.refresh();
    },
  });
  const { error: rolesError, ...roles } = state.field("platformRoles");
  return (
    <OperationForm state={state} nothing="The roles are as they were.">
      <fieldset>
        <legend className="label mb-2">Platform roles</legend>
        <div className="choices">
          {platformRoles.map(({ role, may }) => {
            const fixed = role === "user" || (self && !user.platformRoles.includes(role));
            return (
              <Choice
                key={role}
                {...(fixed ? { name: `fixed-${role}`, defaultChecked: role === "user", disabled: true } : roles)}
                type="checkbox"
                value={role}
              >
                <strong>{role}</strong>
                <span>{may}</span>
              </Choice>
            );
          })}
        </div>
        {rolesError !== undefined && <p className="error">{rolesError}</p>}
      </fieldset>
      <TextArea
        label="Reason"
        hint={`At least ${REASON_MIN} characters. It stands in the audit log with your name.`}
        {...state.field("reason", {})}
        minLength={REASON_MIN}
        required
      />
      <div>
        <Submit state={state}>Save roles</Submit>
      </div>
    </OperationForm>
  );
}
