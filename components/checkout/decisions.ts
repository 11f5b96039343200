import { useRouter } from "next/navigation";
import { signWithPasskey } from "#components/identity/passkey-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { call, ProblemError } from "#lib/http/client.ts";
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

type Choice = { readonly approve: Proof & { readonly mandateId: string } } | { readonly decline: { readonly reason: string } };

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

async function send(checkoutIntentId: string, choice: Choice): Promise<void> {
  if ("approve" in choice) {
    const { mandateId, ...proof } = choice.approve;
    await confirm({ checkoutIntentId }, proof);
    await call(approveCheckout, { checkoutIntentId, body: { mandateId } });
  } else {
    await call(rejectCheckout, { checkoutIntentId, body: choice.decline.reason === "" ? {} : choice.decline });
  }
}

/** Refreshes the page after a decision, or if an error shows that the page is outdated: only the service knows the state. */
export function useDecisions(checkoutIntentId: string, onChanged: () => void) {
  const router = useRouter();
  const deciding = useOperation((choice: Choice) => send(checkoutIntentId, choice), {
    done: (_, choice) => {
      announce("approve" in choice ? "Approved" : "Declined");
      document.getElementById("main")?.focus();
      router.refresh();
    },
    failed: (error) => {
      const code = codeOf(error);
      if (code === "checkout_changed") onChanged();
      if (code !== undefined && outdated.has(code)) router.refresh();
    },
    refresh: "never",
    once: true,
  });
  const { error, sent } = deciding;
  return {
    decide: deciding.send,
    error,
    nothing: sent && "decline" in sent ? "Nothing was declined." : "Nothing was approved.",
    passwordError: passwordError(error),
    changedRequestId: codeOf(error) === "checkout_changed" && error instanceof ProblemError ? error.problem.requestId : undefined,
    stepUpAsked: askedFor(error),
    sent: deciding.busy,
  };
}
