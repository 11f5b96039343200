import type { Context } from "./context.ts";
import { ApprovalDeclined, ApprovalExpired, ApprovalRequired, AuthorizationEnded, ServiceRefused } from "./errors.ts";
import type { Authorization } from "./operations.ts";
import { follow } from "./purchase/follow.ts";
import { decisionOf, noFacts, type Facts, type StepNamed, type Why } from "./purchase/step.ts";
import { pause } from "./service.ts";

type Asking = Extract<StepNamed<"wait">, { readonly for: "person" }>;

const PAUSE_MS = 250;
const WAIT_SECONDS = 30;

/** Names the page to a person. @throws ApprovalRequired if `onApproval` answers "stop" */
export async function ask<F extends Facts>({ onApproval }: Context, { question }: StepNamed<"ask">, facts: F): Promise<F> {
  if ((await onApproval?.({ url: question.url })) === "stop") throw new ApprovalRequired(question.url);
  return { ...facts, isAsked: true };
}

/**
 * Reads the decision: at once until the page is named, and later when it comes. @throws ServiceRefused; without the right to read
 * the decision only after the page is named
 */
export async function readDecision<F extends Facts>(
  { service }: Context,
  { question: { checkoutIntentId } }: Asking,
  facts: F,
  signal?: AbortSignal,
): Promise<F> {
  const { isAsked } = facts;
  try {
    const query = isAsked ? { waitSeconds: WAIT_SECONDS } : {};
    const { intent } = await service.api.getCheckout({ checkoutIntentId, query }, { signal });
    // The service may answer at once although nobody has decided, so pause between two requests.
    if (isAsked && decisionOf(intent.status) === null) await pause(PAUSE_MS, signal);
    return { ...facts, question: intent.status };
  } catch (error) {
    // A key without checkouts:read cannot read the decision, but `onApproval` can still give the page's address to a person.
    if (isAsked || !(error instanceof ServiceRefused) || error.code !== "capability_required") throw error;
    return { ...facts, question: "unreadable" };
  }
}

/** Waits until a person approves. @throws as ask, readDecision and notApproved */
export async function awaitApproval(context: Context, authorization: Authorization, signal?: AbortSignal): Promise<void> {
  const { step, facts } = await follow(
    { ...noFacts, authorization, executions: [] },
    {
      ask: (asked, now) => ask(context, asked, now),
      wait: async (waits, now) => (waits.for === "person" ? readDecision(context, waits, now, signal) : null),
    },
  );
  if (step.step === "ended") throw notApproved(step.why, facts);
}

/** The error for a request for approval that ended without one. */
export function notApproved(why: Why, { question }: Facts): ApprovalDeclined | ApprovalExpired | AuthorizationEnded {
  if (why === "declined") return new ApprovalDeclined("A person declined this payment. Do not ask again.");
  if (why === "expired")
    return new ApprovalExpired("Nobody decided about this payment in time. Ask again, once, under another operation.");
  if (why === "nobodyAsked") return new AuthorizationEnded("A person must approve this payment, and no request is open.");
  return new AuthorizationEnded(`The request for approval is ${question}. Nothing was paid.`);
}
