"use client";

import { useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { AuthRefusal, refusalText, requestAuth } from "./auth-request.ts";
import { OtherWays, type Ways } from "./other-ways.tsx";
import { Refusal } from "./refusal.tsx";

type Props = Ways & {
  readonly returnTo: string;
  readonly email?: string;
  /** Whether the address must be confirmed before the first sign-in. */
  readonly confirms: boolean;
};

/** Returns the next page: `returnTo`, or the page that asks the person to check their mail. */
async function signUp(form: FormData, { returnTo, confirms }: Pick<Props, "returnTo" | "confirms">): Promise<string> {
  const [name, email, password] = ["name", "email", "password"].map((field) => formText(form, field));
  await requestAuth("sign-up/email", { name, email, password, callbackURL: returnTo });
  if (confirms) return withReturnTo("/verify-email", returnTo, { to: email ?? "" });
  await requestAuth("sign-in/email", { email, password });
  return returnTo;
}

/** To hide who has an account, a sign-up for an existing account is not refused; only the sign-in after it can be. */
function explain(error: Error): string {
  if (!(error instanceof AuthRefusal)) return refusalText(error);
  if (error.status === 401)
    return "We could not sign you in with this. If you have an account with this address, sign in instead.";
  return Object.keys(error.fields).length > 0
    ? "Some fields need a correction. See the message at each of them."
    : refusalText(error);
}

export function SignUpForm({ returnTo, email = "", confirms, methods, siwe }: Props) {
  const address = useRef<HTMLInputElement>(null);
  const join = useOperation((form: FormData) => signUp(form, { returnTo, confirms }), {
    done: (next) => location.assign(next),
    refresh: "never",
    once: true,
  });
  const fields = join.error instanceof AuthRefusal ? join.error.fields : {};
  return (
    <>
      <form
        method="post"
        onSubmit={(event) => {
          event.preventDefault();
          join.send(new FormData(event.currentTarget));
        }}
      >
        <Refusal error={join.error}>{join.error && explain(join.error)}</Refusal>
        <Field label="Name" name="name" autoComplete="name" required maxLength={200} error={fields["name"]} />
        <Field
          ref={address}
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          defaultValue={email}
          error={fields["email"]}
        />
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
        <Button tone="primary" size="large" type="submit" disabled={join.busy}>
          Create account
        </Button>
      </form>
      <OtherWays methods={methods} siwe={siwe} returnTo={returnTo} email={address} />
    </>
  );
}
