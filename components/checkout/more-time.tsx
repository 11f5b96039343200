"use client";

import { announce } from "#components/ui/announcements.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { extendCheckout } from "./calls.ts";

type Props = { readonly checkoutIntentId: string; readonly until: string };

/** A request can get more time only once. */
export function MoreTime({ checkoutIntentId, until }: Props) {
  const { send, busy, error } = useOperation(extendCheckout, {
    done: () => announce("The request waits longer"),
    refresh: "always",
    once: true,
  });
  return (
    <>
      <button
        type="button"
        className="min-h-6 rounded-xs font-560 whitespace-nowrap text-accent underline underline-offset-2"
        aria-disabled={busy}
        onClick={() => send({ checkoutIntentId, body: {} })}
      >
        More time
      </button>{" "}
      (until <Moment at={until} show="time" />
      ).{error && <span role="alert"> {error.message}</span>}
    </>
  );
}
