"use client";

import { useMutation } from "@tanstack/react-query";
import { announce } from "#components/ui/announcements.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { AuthRefusal, requestAuth } from "./auth-request.ts";
import { Refusal } from "./refusal.tsx";

type Props = {
  readonly kind: "link" | "verify";
  readonly token: string;
  /** Where to go on. */
  readonly next: string;
  /** Where another mail is asked for. */
  readonly again: string;
};

const paths = { link: "magic-link/verify", verify: "verify-email" } as const;
const buttons = { link: "Sign in", verify: "Confirm the address" } as const;

/** What a mail's link leads to: the person acts, so that a program that only looks at links uses nothing up. */
export function OpenLink({ kind, token, next, again }: Props) {
  const open = useMutation({
    mutationFn: () => requestAuth(paths[kind], { token }),
    onSuccess: () => (kind === "link" ? location.assign(next) : announce("The address is confirmed.")),
  });
  if (kind === "verify" && open.isSuccess) {
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
          This link was used already, or its time is over. Nothing happened. <a href={again}>Ask for a new one</a>
        </Refusal>
      ) : (
        <Refusal error={open.error} />
      )}
      {!ended && (
        <Button tone="primary" size="large" disabled={open.isPending || open.isSuccess} onClick={() => open.mutate()}>
          {buttons[kind]}
        </Button>
      )}
    </>
  );
}
