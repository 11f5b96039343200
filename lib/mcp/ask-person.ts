import type { InputRequiredResult } from "@modelcontextprotocol/server";
import { keepPurchase } from "#lib/mcp/purchase-store.ts";
import type { Purchase } from "#lib/mcp/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import type { ToolContext } from "#lib/mcp/tool.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { minutes } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** How many seconds a repeated call waits for the person's decision. Clients end a call after 60 seconds. */
const WAIT_SECONDS = 25;
/**
 * How often a client may repeat one call while it waits for the decision. Clients end a call with an error after ten times, so
 * this service answers the call before that.
 */
const ROUNDS_MAX = 8;
/**
 * How long a repeated call still counts as the same purchase after the request for approval has expired, so that the call can
 * read how the request ended.
 */
const KEPT_MS = minutes(10);

/** A request for a person's approval, as a reason of an authorization describes it. */
export type Question = {
  readonly checkoutIntentId: string;
  readonly url: string;
  /** The payment that the person approves. If an earlier payment asked the same question, it is the earlier one. */
  readonly authorizationId: string;
  readonly expiresAt: string;
};

export function questionOf({ authorizationId, policyDecision, expiresAt }: Authorization): Question | null {
  const asking = policyDecision.reasons.find(({ effect, href }) => effect === "approval" && href !== undefined);
  if (!asking?.href || asking.checkoutIntentId === undefined) return null;
  const next = asking.next?.body?.["authorizationId"];
  return {
    checkoutIntentId: asking.checkoutIntentId,
    url: asking.href,
    authorizationId: typeof next === "string" ? next : authorizationId,
    expiresAt,
  };
}

/**
 * The answer if the call does not wait for the person: the client cannot show the confirmation page, the person closed it, the
 * call was repeated too often, or the agent may not read checkouts.
 */
export type Waiting = {
  readonly status: "approvalRequired";
  readonly approvalUrl: string;
  readonly expiresAt: string;
  readonly authorizationId: string;
  readonly checkoutIntentId: string;
  readonly pollWith: "get_payment";
  readonly autoResumes: true;
  readonly next: string;
};

export type Decided = "approved" | "approvalDeclined" | "approvalExpired" | "ended";

export type Asked =
  | { readonly kind: "decided"; readonly decided: Decided }
  | { readonly kind: "waiting"; readonly content: Waiting }
  | { readonly kind: "input"; readonly result: InputRequiredResult }
  | { readonly kind: "refused"; readonly problem: ErrorBody };

function decidedOf(status: CheckoutStatus): Decided | null {
  switch (status) {
    case "previewed":
    case "awaiting_approval":
      return null;
    case "approved":
    case "authorized":
    case "executing":
    case "completed":
      return "approved";
    case "rejected":
      return "approvalDeclined";
    case "expired":
      return "approvalExpired";
    case "canceled":
    case "failed":
    case "superseded":
      return "ended";
  }
}

const next =
  "Show approvalUrl to your person and wait. No answer yet does not mean no. Ask get_payment with waitSeconds, or call this tool again with the same arguments: after the approval it continues this purchase. Do not change the arguments or the purchaseId, because that asks a second time.";

const waitingFor = ({ url: approvalUrl, checkoutIntentId, authorizationId, expiresAt }: Question): Asked => {
  const found = { approvalUrl, expiresAt, authorizationId, checkoutIntentId };
  return { kind: "waiting", content: { status: "approvalRequired", ...found, pollWith: "get_payment", autoResumes: true, next } };
};

/**
 * Asks a person to approve, or reads what they decided. If the client can show the confirmation page, it does; mails and push
 * messages are sent in any case. Only a repeated call of such a client waits for the decision. If the person closes the
 * question in the client, the wait ends and nothing is decided, because only the page can decide.
 */
export async function askPerson(on: ToolContext, purchase: Purchase, question: Question): Promise<Asked> {
  const { checkoutIntentId, url } = question;
  const { state, closed, showsUrl } = on.elicitation;
  const waitSeconds = state !== null && !closed ? WAIT_SECONDS : 0;
  const answer = await on.call(reachable.getCheckout, { checkoutIntentId, query: { waitSeconds } });
  // An agent that may not read checkouts still gets the link to the page.
  if (!answer.ok && answer.problem.code === "capability_required") return waitingFor(question);
  if (!answer.ok) return { kind: "refused", problem: answer.problem };
  const { intent } = answer.body;
  const decided = decidedOf(intent.status);
  if (decided !== null) return { kind: "decided", decided };
  await keepPurchase(purchase.row, new Date(Date.parse(intent.expiresAt) + KEPT_MS));
  const calls = state === null ? 0 : state.calls + 1;
  if (!showsUrl || closed || calls > ROUNDS_MAX) return waitingFor({ ...question, expiresAt: intent.expiresAt });
  const { slot, purchaseKey } = purchase.row;
  const seller = new URL(intent.storefrontUrl).host;
  const message = `A person must approve ${intent.displayAmount} to ${seller} before it is paid. Open the page to decide.`;
  // A repeated call does not show the page again, because the first one is still open.
  const page = state === null ? { url, message } : null;
  return { kind: "input", result: await on.elicitation.ask({ slot, purchaseKey, round: purchase.round, calls }, page) };
}
