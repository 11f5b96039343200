import type { CheckoutIntent } from "#lib/approvals/checkout-schema.ts";
import { Refused } from "#lib/mcp/tools/call-operation.ts";
import { keepPurchase } from "#lib/mcp/purchase-store.ts";
import type { Purchase } from "#lib/mcp/purchase/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import type { ToolContext } from "#lib/mcp/tools/tool.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import type { PaymentExecution } from "#lib/payments/payment-schema.ts";
import { minutes } from "#lib/time.ts";
import { follow, type Transport } from "#purchase/follow.ts";
import { noFacts, type Question, type Why } from "#purchase/step.ts";

/** Less than the 60 seconds after which clients end a call by default. */
const WAIT_SECONDS = 25;
/** By default, clients end a call with an error after ten rounds, so this service answers the call before that. */
const ROUNDS_MAX = 8;
/** A repeated call counts as the same purchase for this long after the request expired, to read how the request ended. */
const KEPT_MS = minutes(10);

const next =
  "Show approvalUrl to your person, wait, and pay nothing before. No answer yet does not mean no. Ask get_payment with waitSeconds, or call this tool again with the same arguments: after the approval it continues this purchase. Do not change the arguments or the purchaseId, because that asks a second time.";

export type Person = ReturnType<typeof personFor>;

/** What the steps of one call do about a person. */
export function personFor(on: ToolContext, purchase: Purchase) {
  const { state, closed, showsUrl, ask } = on.elicitation;
  let intent: CheckoutIntent | undefined;
  const steps: Transport<PaymentExecution> = {
    /** Only a repeated call of a client that shows the page waits. A person who closes the question there decides nothing. */
    async person({ question: { checkoutIntentId } }, facts) {
      const waitSeconds = state !== null && !closed ? WAIT_SECONDS : 0;
      try {
        ({ intent } = (await on.call(reachable.getCheckout, { checkoutIntentId, query: { waitSeconds } })).body);
        return { ...facts, question: intent.status };
      } catch (error) {
        // An agent that may not read checkouts still gets the link to the page.
        if (!(error instanceof Refused) || error.problem.code !== "capability_required") throw error;
        return { ...facts, question: "unreadable" };
      }
    },
  };
  return {
    steps,
    /** The step of an authorization: `sign` if it can be paid. */
    stepOf: async (authorization: Authorization) => (await follow({ ...noFacts, authorization, executions: [] }, steps)).step,
    /** The answer of a call that ends while nobody has decided, with `more` if it is not a question to the client. */
    async answer<M extends object>(question: Question, authorization: Authorization, more: M) {
      const { url: approvalUrl, checkoutIntentId, authorizationId } = question;
      const found = { approvalUrl, expiresAt: (intent ?? authorization).expiresAt, authorizationId, checkoutIntentId };
      const waits = { status: "approvalRequired", ...found, pollWith: "get_payment", autoResumes: true, next, ...more } as const;
      // No page can be shown, the person closed it, there were too many rounds, or the agent may not read checkouts.
      const waiting = { content: waits };
      if (!intent) return waiting;
      await keepPurchase(purchase.row, new Date(Date.parse(intent.expiresAt) + KEPT_MS));
      const calls = state === null ? 0 : state.calls + 1;
      if (!showsUrl || closed || calls > ROUNDS_MAX) return waiting;
      const { slot, purchaseKey, createdAt } = purchase.row;
      const seller = new URL(intent.storefrontUrl).host;
      const message = `A person must approve ${intent.displayAmount} to ${seller} before it is paid. Open the page to decide.`;
      // The first call has shown the page, so a repeated call does not.
      const page = state === null ? { url: approvalUrl, message } : null;
      return ask({ slot, purchaseKey, createdAt: createdAt.getTime(), round: purchase.round, calls }, page);
    },
  };
}

/** The tools' status of a request for approval that ended without one. */
export const endedStatus = (why: Why): "approvalDeclined" | "approvalExpired" | "ended" =>
  why === "declined" ? "approvalDeclined" : why === "expired" ? "approvalExpired" : "ended";
