import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useRef } from "react";
import { signWithPasskey } from "#components/identity/passkey-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { approveCheckout, rejectCheckout } from "#lib/approvals/contract.ts";
import { call, ProblemError } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
import { stepUp } from "#lib/identity/contract.ts";
import { challengePasskey } from "#lib/identity/passkeys/passkey-contract.ts";

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
  "step_up_required",
]);

type Approval = {
  readonly mandateId: string;
  /** How the person proves who he is, where he is asked to. */
  readonly way: "password" | "passkey" | null;
  readonly password: string | null;
};

/** The challenge is fetched now, so that it is over what the page was shown last. */
async function confirm(checkoutIntentId: string, { way, password }: Approval): Promise<void> {
  if (way === null) return;
  if (way === "password") {
    await call(stepUp, { body: { checkoutIntentId, password: password ?? "" } });
    return;
  }
  const { options } = await call(challengePasskey, { body: { checkoutIntentId } });
  const assertion = await signWithPasskey(options);
  await call(stepUp, { body: { checkoutIntentId, assertion } });
}

/** By what the approval was refused for want of: a passkey, or whatever the person has. */
const askedFor = (error: Error | null): "passkey" | "any" | null => {
  if (!(error instanceof ProblemError) || error.problem.code !== "step_up_required") return null;
  return error.problem.nextActions.some(({ metadata }) => metadata?.["method"] === "passkey") ? "passkey" : "any";
};

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
    mutationFn: async (approval: Approval) => {
      await confirm(checkoutIntentId, approval);
      return call(approveCheckout, { checkoutIntentId, body: { mandateId: approval.mandateId } });
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
    stepUpAsked: askedFor(error),
    busy: approve.isPending || decline.isPending,
  };
}
