import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useRef } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { approveCheckout, rejectCheckout } from "#lib/commerce/contract.ts";
import { call, ProblemError } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
import { stepUp } from "#lib/identity/contract.ts";

const codeOf = (error: Error | null): string | undefined => (error instanceof ProblemError ? error.problem.code : undefined);

/** What is wrong with the password that was typed, where that is what was refused. */
const passwordError = (error: Error | null): string | undefined =>
  error instanceof ProblemError ? error.problem.errors?.find(({ pointer }) => pointer === "/password")?.detail : undefined;

/** Refusals that say: what this page shows is no longer how it stands. */
const outdated = new Set([
  "checkout_changed",
  "review_required",
  "intent_expired",
  "checkout_closed",
  "approval_already_decided",
]);

type Approval = { readonly mandateId: string; readonly password: string | null };

type Told = {
  /** The terms are not those that were shown: the page marks what changed. */
  readonly onChanged: () => void;
};

/** Approve and decline. After each, the page is read again from the server: it alone says how the checkout stands. */
export function useDecisions(checkoutIntentId: string, { onChanged }: Told) {
  const router = useRouter();
  // The second click of a double click comes before the page has drawn the first.
  const sending = useRef(false);
  const sent = () => {
    sending.current = false;
  };
  const read = (said: string) => {
    announce(said);
    document.getElementById("main")?.focus();
    router.refresh();
  };
  const refused = (error: Error) => {
    const code = codeOf(error);
    if (code === "checkout_changed") onChanged();
    if (code !== undefined && outdated.has(code)) router.refresh();
  };
  const approve = useMutation({
    mutationKey: [approveCheckout.id],
    mutationFn: async ({ mandateId, password }: Approval) => {
      if (password !== null) await call(stepUp, { body: { checkoutIntentId, password } });
      return call(approveCheckout, { checkoutIntentId, body: { mandateId } });
    },
    onSuccess: () => read("Approved"),
    onError: refused,
    onSettled: sent,
  });
  const decline = useMutation({
    ...mutation(rejectCheckout),
    onSuccess: () => read("Declined"),
    onError: refused,
    onSettled: sent,
  });
  const alone = (send: () => void) => {
    if (sending.current) return;
    sending.current = true;
    send();
  };
  const error = approve.error ?? decline.error;
  return {
    approve,
    decline,
    alone,
    error,
    passwordError: passwordError(error),
    /** The request that was refused because the terms had changed. */
    changedRequestId: codeOf(error) === "checkout_changed" && error instanceof ProblemError ? error.problem.requestId : undefined,
    stepUpAsked: codeOf(error) === "step_up_required",
    busy: approve.isPending || decline.isPending,
  };
}
