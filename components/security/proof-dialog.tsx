"use client";

import { type FormEvent, useEffect, useId, useRef } from "react";
import { signWithPasskey } from "#components/identity/passkey-request.ts";
import { passwordError } from "#components/checkout/decisions.ts";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { challengePasskey, confirmIdentity, stepUp } from "./calls.ts";

type Act = { readonly subjectId: string; readonly terms: string };

/** Confirms with a passkey if `password` is null: one act if the service names it, or else the session. */
async function confirm(password: string | null, act: Act | undefined): Promise<void> {
  const proof =
    password !== null
      ? { password }
      : { assertion: await signWithPasskey((await call(challengePasskey, { body: act ? { act } : {} })).options) };
  await (act ? call(stepUp, { body: { act, ...proof } }) : call(confirmIdentity, { body: proof }));
}

type Props = { readonly problem: ErrorBody; readonly answer: (proved: boolean) => void };

/** The request that was refused goes on by itself after the proof. */
export function ProofDialog({ problem, answer }: Props) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const { methods, act } = (problem.nextActions[0]?.metadata ?? {}) as { methods?: readonly string[]; act?: Act };
  const [hasPassword, hasPasskey] = [methods?.includes("password") ?? false, methods?.includes("passkey") ?? false];
  const { send, busy, error } = useOperation((password: string | null) => confirm(password, act), {
    done: () => answer(true),
    refresh: "never",
  });
  const wrong = passwordError(error);
  useEffect(() => {
    if (wrong !== undefined) field.current?.focus();
  }, [wrong]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    send(formText(new FormData(event.currentTarget), "password"));
  };
  const footer = (
    <>
      <DialogClose>Cancel</DialogClose>
      {hasPasskey && (
        <Button {...(!hasPassword && { tone: "primary" as const })} aria-busy={busy} onClick={() => send(null)}>
          Use a passkey
        </Button>
      )}
      {hasPassword && (
        <Button tone="primary" type="submit" form={id} aria-busy={busy}>
          Confirm
        </Button>
      )}
    </>
  );
  return (
    <Dialog
      title="Confirm that it is you"
      open
      onOpenChange={(open) => open || answer(false)}
      footer={footer}
      {...(hasPassword && { initialFocus: field })}
    >
      <form id={id} className="grid gap-5" method="post" onSubmit={submit}>
        <p>{problem.detail}</p>
        {!hasPassword && !hasPasskey && (
          <p>You have neither a password nor a passkey. Sign out, sign in again, and come back at once.</p>
        )}
        {hasPassword && (
          <Field
            ref={field}
            label="Your password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
            error={wrong}
          />
        )}
        {wrong === undefined && <ProblemNotice error={error} nothing="It is not confirmed." />}
      </form>
    </Dialog>
  );
}
