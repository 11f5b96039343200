"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { confirm, passwordError } from "./confirm-identity.tsx";

type Props = {
  readonly detail: string;
  /** The methods by which this person can confirm their identity, from the service's response. */
  readonly methods: readonly string[];
};

/** A fieldset, because it may be inside a form, and HTML forms cannot be nested. */
export function ConfirmFirst({ detail, methods }: Props) {
  const [password, setPassword] = useState("");
  const asked = useMutation({ mutationFn: confirm });
  const send = (typed: string | null) => asked.isPending || asked.mutate(typed);
  const wrong = passwordError(asked.error);
  if (asked.isSuccess) {
    return (
      <Notice tone="positive" role="alert">
        Thank you. Now press the button once more.
      </Notice>
    );
  }
  if (methods.length === 0) {
    return (
      <Notice tone="caution" role="alert">
        {detail} Sign out, sign in again, and come back within 15 minutes.
      </Notice>
    );
  }
  return (
    <fieldset className="grid gap-3">
      <legend className="sr">Confirm that it is you</legend>
      <Notice tone="caution" role="alert">
        {detail}
      </Notice>
      {methods.includes("password") && (
        <Field
          label="Your password"
          type="password"
          autoComplete="current-password"
          value={password}
          error={wrong}
          onChange={(event) => setPassword(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            send(password);
          }}
        />
      )}
      {asked.error && wrong === undefined && <ProblemNotice error={asked.error} nothing="It is not confirmed." />}
      <div className="actions">
        {methods.includes("password") && (
          <Button aria-busy={asked.isPending} onClick={() => send(password)}>
            Confirm
          </Button>
        )}
        {methods.includes("passkey") && (
          <Button aria-busy={asked.isPending} onClick={() => send(null)}>
            Use a passkey
          </Button>
        )}
      </div>
    </fieldset>
  );
}
