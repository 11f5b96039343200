import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useRef } from "react";
import { signWithPasskey } from "#components/identity/passkey-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { call, ProblemError } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
import { approveCheckout, challengePasskey, rejectCheckout, stepUp } from "./calls.ts";

const codeOf = (error: Error | null): string | undefined => (error instanceof ProblemError ? error.problem.code : undefined);

export const passwordError = (error: Error | null): string | undefined =>
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

/** How the person confirms their identity; null if that is not required. */
export type Proof = { readonly way: "password" | "passkey" | null; readonly password: string | null };

type Approval = Proof & { readonly mandateId: string };

type Subject = { readonly checkoutIntentId: string } | { readonly together: { checkoutIntentIds: string[]; amount: string } };

/** Asks for the passkey challenge only now, because a challenge is for one set of terms and expires soon. */
export async function confirm(subject: Subject, { way, password }: Proof): Promise<void> {
  if (way === null) return;
  if (way === "password") {
    await call(stepUp, { body: { ...subject, password: password ?? "" } });
    return;
  }
  const { options } = await call(challengePasskey, { body: subject });
  const assertion = await signWithPasskey(options);
  await call(stepUp, { body: { ...subject, assertion } });
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
      await confirm({ checkoutIntentId }, approval);
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
