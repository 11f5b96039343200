import type { Context } from "./context.ts";
import { ApprovalDeclined, ApprovalExpired, ApprovalRequired, AuthorizationEnded, ServiceRefused } from "./errors.ts";
import { follow, type Transport } from "./purchase/follow.ts";
import { decisionOf, noFacts, type Execution, type Facts, type Why } from "./purchase/step.ts";
import { pause } from "./service.ts";

const PAUSE_MS = 250;
const WAIT_SECONDS = 30;

/**
 * The steps about a person. The decision is read at once until the page is named, and later when it comes.
 * @throws ApprovalRequired if `onApproval` answers "stop"; ServiceRefused without the right to read the decision, after the page is named
 */
export const personSteps = <E extends Execution>(context: Context, signal?: AbortSignal): Transport<E> => ({
  async ask({ question: { url } }, facts) {
    if ((await context.onApproval?.({ url })) === "stop") throw new ApprovalRequired(url);
    return { ...facts, isAsked: true };
  },
  async person({ question: { checkoutIntentId } }, facts) {
    const { isAsked } = facts;
    try {
      const query = isAsked ? { waitSeconds: WAIT_SECONDS } : {};
      const { status } = (await context.service.api.getCheckout({ checkoutIntentId, query }, { signal })).intent;
      // The service may answer at once although nobody has decided, so pause between two requests.
      if (isAsked && decisionOf(status) === null) await pause(PAUSE_MS, signal);
      return { ...facts, question: status };
    } catch (error) {
      // A key without checkouts:read cannot read the decision, but `onApproval` can still give the page's address to a person.
      if (isAsked || !(error instanceof ServiceRefused) || error.code !== "capability_required") throw error;
      return { ...facts, question: "unreadable" };
    }
  },
});

/** Waits until a person approves on a page. False if the approval was given before. @throws as personSteps and notApproved */
export async function awaitApproval(context: Context, href: string, signal?: AbortSignal): Promise<boolean> {
  const policyDecision = { outcome: "requireApproval", reasons: [{ effect: "approval", href }] } as const;
  const authorization = { authorizationId: "", policyDecision };
  const { step, facts } = await follow({ ...noFacts, authorization, executions: [] }, personSteps(context, signal));
  if (step.step === "ended") throw notApproved(step.why, facts);
  return facts.isAsked;
}

/** The error for a request for approval that ended without one. */
export function notApproved(why: Why, { question }: Facts): ApprovalDeclined | ApprovalExpired | AuthorizationEnded {
  if (why === "declined") return new ApprovalDeclined("A person declined this payment. Do not ask again.");
  if (why === "expired")
    return new ApprovalExpired("Nobody decided about this payment in time. Ask again, once, under another operation.");
  if (why === "nobodyAsked") return new AuthorizationEnded("A person must approve this payment, and no request is open.");
  return new AuthorizationEnded(`The request for approval is ${question}. Nothing was paid.`);
}
