import { FieldError } from "#components/ui/field.tsx";
import { Choice } from "#components/ui/choice.tsx";
import type { ComponentProps } from "react";
import type { MembershipRole } from "#lib/vocabulary.ts";
import { roles } from "./role-words.ts";

type Props = {
  readonly grantable: readonly MembershipRole[];
  readonly error?: string | undefined;
  readonly control: ComponentProps<"input">;
};

export function RoleChoices({ grantable, error, control }: Props) {
  return (
    <fieldset {...(error !== undefined && { "aria-describedby": "role-error" })}>
      <legend className="label mb-2">Role</legend>
      <div className="choices">
        {roles
          .filter(({ role }) => grantable.includes(role))
          .map(({ role, name, may }) => (
            <Choice key={role} {...control} type="radio" value={role}>
              <strong>{name}</strong>
              <span>{may}</span>
            </Choice>
          ))}
      </div>
      {error !== undefined && <FieldError id="role-error">{error}</FieldError>}
    </fieldset>
  );
}
