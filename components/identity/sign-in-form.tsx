"use client";

import { useId, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { AuthRefusal, refusalText, requestAuth } from "./auth-request.ts";
import { OtherWays, type Ways } from "./other-ways.tsx";
import { Refusal } from "./refusal.tsx";

type Props = Ways & { readonly returnTo: string; readonly email?: string };

/** The message is the same for a wrong password and an unknown address, so that it does not say who has an account. */
const explain = (error: Error): string =>
  error instanceof AuthRefusal && error.status === 401 ? "The e-mail address or the password is not right." : refusalText(error);

const isUnconfirmed = (error: Error | null): boolean => error instanceof AuthRefusal && error.code === "EMAIL_NOT_VERIFIED";

export function SignInForm({ returnTo, email = "", methods, siwe }: Props) {
  const id = useId();
  const address = useRef<HTMLInputElement>(null);
  const signIn = useOperation(
    (form: FormData) => requestAuth("sign-in/email", { email: form.get("email"), password: form.get("password") }),
    // Load a whole page, so that nothing from before the sign-in is reused.
    { done: () => location.assign(returnTo), refresh: "never", once: true },
  );
  const tried = signIn.sent ? formText(signIn.sent, "email") : "";
  return (
    <>
      <form
        method="post"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.send(new FormData(event.currentTarget));
        }}
      >
        {isUnconfirmed(signIn.error) ? (
          <Refusal error={signIn.error}>
            Confirm your e-mail address first: open the link in the mail that we sent.{" "}
            <a href={withReturnTo("/verify-email", returnTo, { email: tried })}>Send it again</a>
          </Refusal>
        ) : (
          <Refusal error={signIn.error}>{signIn.error && explain(signIn.error)}</Refusal>
        )}
        <div className="field">
          <label htmlFor={`${id}-email`}>E-mail</label>
          <input
            ref={address}
            id={`${id}-email`}
            type="email"
            name="email"
            autoComplete="username"
            required
            maxLength={254}
            defaultValue={email}
          />
        </div>
        <div className="field">
          <div className="flex justify-between gap-3 text-sm">
            <label className="font-580" htmlFor={`${id}-password`}>
              Password
            </label>
            {methods.magicLink && <a href={withReturnTo("/reset-password", returnTo)}>Forgot it?</a>}
          </div>
          <input id={`${id}-password`} type="password" name="password" autoComplete="current-password" required maxLength={128} />
        </div>
        <Button tone="primary" size="large" type="submit" disabled={signIn.busy}>
          Sign in
        </Button>
      </form>
      <OtherWays methods={methods} siwe={siwe} returnTo={returnTo} email={address} />
    </>
  );
}
