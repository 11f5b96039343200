"use client";

import { useState } from "react";
import { Choice } from "#components/ui/choice.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import type { PlatformUser } from "#lib/platform/contract.ts";
import type { PlatformRole } from "#lib/vocabulary.ts";
import { ReasonField } from "./reason-field.tsx";
import { platformRoles } from "./role-words.ts";

type Props = {
  readonly user: Pick<PlatformUser, "userId" | "name" | "platformRoles">;
  /** Whether the user is the reader. People cannot give themselves a role, so the roles that they lack are disabled. */
  readonly self: boolean;
};

export function EditRoles({ user, self }: Props) {
  const state = useOperationForm(() => import("./with-reason.ts").then((operations) => operations.updateUserRoles), {
    defaults: { platformRoles: [...user.platformRoles], reason: "" },
    params: { userId: user.userId },
    done: (saved) => {
      state.form.resetField("reason", { defaultValue: "" });
      return `${saved.name} is ${saved.platformRoles.toReversed().join(", ")} now`;
    },
  });
  const [chosen, setChosen] = useState<readonly PlatformRole[]>(user.platformRoles);
  const choose = (role: PlatformRole, on: boolean) => {
    const next = on ? [...chosen, role] : chosen.filter((one) => one !== role);
    setChosen(next);
    state.form.setValue("platformRoles", next);
  };
  return (
    <OperationForm state={state} nothing="The roles were not changed.">
      <fieldset>
        <legend className="label mb-2">Platform roles</legend>
        <div className="choices">
          {platformRoles.map(({ role, may }) => {
            const fixed = role === "user" || (self && !user.platformRoles.includes(role));
            return (
              <Choice
                key={role}
                disabled={fixed}
                checked={chosen.includes(role)}
                onChange={(event) => choose(role, event.target.checked)}
                type="checkbox"
                value={role}
              >
                <strong>{role}</strong>
                <span>{may}</span>
              </Choice>
            );
          })}
        </div>
      </fieldset>
      <ReasonField {...state.field("reason")} />
      <div>
        <Submit state={state}>Save roles</Submit>
      </div>
    </OperationForm>
  );
}
