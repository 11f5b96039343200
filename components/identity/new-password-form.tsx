"use client";

import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { AuthRefusal, requestAuth } from "./auth-request.ts";
import { Refusal } from "./refusal.tsx";

export function NewPasswordForm({ token, returnTo }: { readonly token: string; readonly returnTo: string }) {
  const set = useOperation((newPassword: string) => requestAuth("reset-password", { token, newPassword }), {
    done: () => location.assign(withReturnTo("/sign-in", returnTo, { done: "password" })),
    refresh: "never",
    once: true,
  });
  const fields = set.error instanceof AuthRefusal ? set.error.fields : {};
  const ended = set.error instanceof AuthRefusal && set.error.code === "INVALID_TOKEN";
  return (
    <form
      method="post"
      onSubmit={(event) => {
        event.preventDefault();
        set.send(formText(new FormData(event.currentTarget), "password"));
      }}
    >
      {ended ? (
        <Refusal error={set.error}>
          This link was used already or has expired. The password was not changed.{" "}
          <a href={withReturnTo("/reset-password", returnTo)}>Ask for a new one</a>
        </Refusal>
      ) : (
        fields["newPassword"] === undefined && <Refusal error={set.error} />
      )}
      <Field
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={128}
        hint="At least 12 characters. Every session of the account ends."
        error={fields["newPassword"]}
      />
      <Button tone="primary" size="large" type="submit" disabled={set.busy}>
        Set the password
      </Button>
    </form>
  );
}
