"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { announce } from "#components/ui/announcements.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { mutation } from "#lib/http/query.ts";
import { extendCheckout } from "./calls.ts";

type Props = { readonly checkoutIntentId: string; readonly until: string };

/** A request can get more time only once. */
export function MoreTime({ checkoutIntentId, until }: Props) {
  const router = useRouter();
  const extending = useMutation({
    ...mutation(extendCheckout),
    onSuccess: () => announce("The request waits longer"),
    onSettled: () => router.refresh(),
  });
  const busy = extending.isPending || extending.isSuccess;
  return (
    <>
      <button
        type="button"
        className="min-h-6 rounded-xs font-560 whitespace-nowrap text-accent underline underline-offset-2"
        aria-disabled={busy}
        onClick={() => {
          if (!busy) extending.mutate({ checkoutIntentId, body: {} });
        }}
      >
        More time
      </button>{" "}
      (until <Moment at={until} show="time" />
      ).{extending.error && <span role="alert"> {extending.error.message}</span>}
    </>
  );
}
