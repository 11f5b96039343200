"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { Notice } from "#components/ui/notice.tsx";
import { AuthRefusal, requestAuth } from "./auth-request.ts";

/** One sentence for a wrong password and an unknown address: it tells nothing about who has an account. */
function explain(error: Error): string {
  if (!(error instanceof AuthRefusal)) return "We could not reach the service. Try again.";
  if (error.status === 401) return "The e-mail address or the password is not right.";
  if (error.status === 429) return "Too many tries. Wait a minute, then try again.";
  return error.message;
}

export function SignInForm({ returnTo }: { readonly returnTo: string }) {
  const hydrated = useHydrated();
  const signIn = useMutation({
    mutationFn: (form: FormData) => requestAuth("sign-in/email", { email: form.get("email"), password: form.get("password") }),
    // A whole new page: the server reads the cookie that it has just set.
    onSuccess: () => location.assign(returnTo),
  });
  const waiting = signIn.isPending || signIn.isSuccess;
  return (
    <form
      method="post"
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate(new FormData(event.currentTarget));
      }}
    >
      {signIn.error && (
        <Notice tone="danger" role="alert">
          <p>{explain(signIn.error)}</p>
        </Notice>
      )}
      <Field label="E-mail" name="email" type="email" autoComplete="username" required />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      <Button tone="primary" size="large" type="submit" disabled={!hydrated || waiting}>
        Sign in
      </Button>
    </form>
  );
}
