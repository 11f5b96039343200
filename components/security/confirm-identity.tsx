"use client";

import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { signWithPasskey } from "#components/identity/passkey-request.ts";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call, ProblemError } from "#lib/http/client.ts";
import { challengePasskey, confirmIdentity } from "./calls.ts";

export type Proofs = { readonly hasPassword: boolean; readonly hasPasskey: boolean };

/** Confirms with a passkey if `password` is null. */
export async function confirm(password: string | null): Promise<void> {
  if (password !== null) {
    await call(confirmIdentity, { body: { password } });
    return;
  }
  const { options } = await call(challengePasskey, { body: {} });
  await call(confirmIdentity, { body: { assertion: await signWithPasskey(options) } });
}

export const passwordError = (error: Error | null): string | undefined =>
  error instanceof ProblemError ? error.problem.errors?.find(({ pointer }) => pointer === "/password")?.detail : undefined;

export const isProofMissing = (error: Error | null): boolean =>
  error instanceof ProblemError && error.problem.code === "step_up_required";

type Props = Proofs & { readonly onDone: () => void };

/** Asks before a person changes their passkeys, because another person could be using their unlocked screen. */
export function ConfirmIdentity({ hasPassword, hasPasskey, onDone }: Props) {
  const asked = useMutation({ mutationFn: confirm, onSuccess: onDone });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!asked.isPending) asked.mutate(formText(new FormData(event.currentTarget), "password"));
  };
  const wrong = passwordError(asked.error);
  if (!hasPassword && !hasPasskey) {
    return (
      <p>
        This changes how you sign in, so it needs a fresh sign-in. Sign out, sign in again, and come back within five minutes.
      </p>
    );
  }
  return (
    <form className="grid gap-5" method="post" onSubmit={submit}>
      <p>This changes how you sign in. Confirm that it is you.</p>
      {hasPassword && (
        <Field label="Your password" name="password" type="password" autoComplete="current-password" required error={wrong} />
      )}
      {asked.error && wrong === undefined && <ProblemNotice error={asked.error} nothing="Nothing was changed." />}
      <div className="actions">
        {hasPassword && (
          <Button tone="primary" type="submit" aria-busy={asked.isPending}>
            Continue
          </Button>
        )}
        {hasPasskey && (
          <Button
            {...(!hasPassword && { tone: "primary" as const })}
            aria-busy={asked.isPending}
            onClick={() => !asked.isPending && asked.mutate(null)}
          >
            Use a passkey
          </Button>
        )}
      </div>
    </form>
  );
}
