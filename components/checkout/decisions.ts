import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useRef } from "react";
import { signWithPasskey } from "#components/identity/passkey-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { call, ProblemError } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
import { approveCheckout, challengePasskey, rejectCheckout, stepUp } from "./calls.ts";

const codeOf = (error: Error | null): string | undefined => (error instanceof ProblemError ? error.problem.code : undefined);

const passwordError = (error: Error | null): string | undefined =>
  error instanceof ProblemError ? error.problem.errors?.find(({ pointer }) => pointer === "/password")?.detail : undefined;

/** Codes of refusals which mean that the page is outdated and must be refreshed. */
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
  /** How the person confirms their identity; null if that is not required. */
  readonly way: "password" | "passkey" | null;
  readonly password: string | null;
};

/** Asks for the passkey challenge only now, because a challenge is for one set of terms and expires soon. */
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

/** Which confirmation of identity a refused approval needs: a passkey, or any method of the person. Null for other errors. */
const askedFor = (error: Error | null): "passkey" | "any" | null => {
  if (!(error instanceof ProblemError) || error.problem.code !== "step_up_required") return null;
  return error.problem.nextActions.some(({ metadata }) => metadata?.["method"] === "passkey") ? "passkey" : "any";
};

/** Refreshes the page after a decision, or if an error shows that the page is outdated: only the service knows the state. */
export function useDecisions(checkoutIntentId: string, onChanged: () => void) {
  const router = useRouter();
  // Ignore the second click of a double click: it arrives before React has rendered the effect of the first one.
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
    changedRequestId: codeOf(error) === "checkout_changed" && error instanceof ProblemError ? error.problem.requestId : undefined,
    stepUpAsked: askedFor(error),
    sent: [approve, decline].some(({ isPending, isSuccess }) => isPending || isSuccess),
  };
}
