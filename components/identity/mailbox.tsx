"use client";

import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { type AuthPath, requestAuth } from "./auth-request.ts";
import { Refusal } from "./refusal.tsx";

const kinds = {
  link: { path: "sign-in/magic-link", back: "callbackURL", send: "E-mail me a link" },
  verify: { path: "send-verification-email", back: "callbackURL", send: "Send the mail" },
  reset: { path: "request-password-reset", back: "redirectTo", send: "Send the link" },
} as const satisfies Record<string, { readonly path: AuthPath; readonly back: string; readonly send: string }>;

type Props = {
  readonly kind: keyof typeof kinds;
  readonly returnTo: string;
  /** The first value of the field; if `sent` is true, the notice names it. */
  readonly email?: string;
  readonly sent?: boolean;
};

/** The response is the same for every address, so that it does not say who has an account. */
export function Mailbox({ kind, returnTo, email = "", sent = false }: Props) {
  const { path, back, send } = kinds[kind];
  const ask = useOperation((to: string) => requestAuth(path, { email: to, [back]: returnTo }), {
    done: (_, to) => announce(`A link is on its way to ${to}, if there is an account.`),
    refresh: "never",
  });
  const to = ask.isDone ? ask.sent : sent ? email : undefined;
  return (
    <form
      method="post"
      onSubmit={(event) => {
        event.preventDefault();
        ask.send(formText(new FormData(event.currentTarget), "email"));
      }}
    >
      <Refusal error={ask.error} />
      {to !== undefined && !ask.busy && (
        <Notice>
          <p>
            {kind === "link" ? "A link is on its way to " : "If there is an account, a link is on its way to "}
            <strong className="wrap-anywhere">{to}</strong>.
          </p>
        </Notice>
      )}
      <Field label="E-mail" name="email" type="email" autoComplete="username" required maxLength={254} defaultValue={email} />
      <Button size="large" type="submit" disabled={ask.busy} {...(to === undefined && { tone: "primary" as const })}>
        {to === undefined ? send : "Send it again"}
      </Button>
    </form>
  );
}
