"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { Notice } from "#components/ui/notice.tsx";
import { AuthRefusal, requestAuth } from "./auth-request.ts";

async function signUp(form: FormData): Promise<void> {
  const [name, email, password] = ["name", "email", "password"].map((field) => form.get(field));
  await requestAuth("sign-up/email", { name, email, password });
  await requestAuth("sign-in/email", { email, password });
}

/** A sign-up with an address that has an account looks like any other, so only the sign-in after it is refused. */
function explain(error: Error): string {
  if (!(error instanceof AuthRefusal)) return "We could not reach the service. Try again.";
  if (error.status === 401)
    return "We could not sign you in with this. If you have an account with this address, sign in instead.";
  if (error.status === 429) return "Too many tries. Wait a minute, then try again.";
  return Object.keys(error.fields).length > 0 ? "Some of this is not usable yet. The fields say what." : error.message;
}

export function SignUpForm({ returnTo }: { readonly returnTo: string }) {
  const hydrated = useHydrated();
  const join = useMutation({ mutationFn: signUp, onSuccess: () => location.assign(returnTo) });
  const fields = join.error instanceof AuthRefusal ? join.error.fields : {};
  return (
    <form
      method="post"
      onSubmit={(event) => {
        event.preventDefault();
        join.mutate(new FormData(event.currentTarget));
      }}
    >
      {join.error && (
        <Notice tone="danger" role="alert">
          <p>{explain(join.error)}</p>
        </Notice>
      )}
      <Field label="Name" name="name" autoComplete="name" required maxLength={200} error={fields["name"]} />
      <Field label="E-mail" name="email" type="email" autoComplete="username" required maxLength={254} error={fields["email"]} />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={128}
        hint="At least 12 characters. A password manager makes a good one."
        error={fields["password"]}
      />
      <Button tone="primary" size="large" type="submit" disabled={!hydrated || join.isPending || join.isSuccess}>
        Create account
      </Button>
    </form>
  );
}
