"use client";

import { announce } from "#components/ui/announcements.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { AuthRefusal, requestAuth } from "./auth-request.ts";
import { Refusal } from "./refusal.tsx";

type Props = {
  readonly kind: "link" | "verify";
  readonly token: string;
  /** The page that opens after the sign-in, or the target of the link that is shown after the address was confirmed. */
  readonly next: string;
  /** The page that opens after the person has chosen a new password, if the service requires one, and signed in. */
  readonly returnTo: string;
  readonly again: string;
};

const paths = { link: "magic-link/verify", verify: "verify-email" } as const;
const buttons = { link: "Sign in", verify: "Confirm the address" } as const;

const tokenOf = ({ token }: Readonly<Record<string, unknown>>): string | null => (typeof token === "string" ? token : null);

/** The person must press a button, or a mail scanner that opens links would use up the token. */
export function OpenLink({ kind, token, next, returnTo, again }: Props) {
  const open = useOperation(() => requestAuth(paths[kind], { token }), {
    done: (reply) => {
      const chooses = tokenOf(reply);
      if (chooses !== null) location.assign(withReturnTo("/reset-password", returnTo, { confirmed: "yes", token: chooses }));
      else if (kind === "link") location.assign(next);
      else announce("The address is confirmed.");
    },
    refresh: "never",
    once: true,
  });
  if (kind === "verify" && open.data && tokenOf(open.data) === null) {
    return (
      <>
        <Notice tone="positive">
          <p>The address is confirmed.</p>
        </Notice>
        <a className={buttonClass({ tone: "primary", size: "large" })} href={next}>
          Go on
        </a>
      </>
    );
  }
  const ended = open.error instanceof AuthRefusal && open.error.status === 401;
  return (
    <>
      {ended ? (
        <Refusal error={open.error}>
          This link was used already or has expired. Nothing happened. <a href={again}>Ask for a new one</a>
        </Refusal>
      ) : (
        <Refusal error={open.error} />
      )}
      {!ended && (
        <Button tone="primary" size="large" disabled={open.busy} onClick={() => open.send()}>
          {buttons[kind]}
        </Button>
      )}
    </>
  );
}
