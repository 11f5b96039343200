import type { InputRequiredResult } from "@modelcontextprotocol/server";
import { keepPurchase } from "#lib/mcp/purchase-store.ts";
import type { Purchase } from "#lib/mcp/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import type { ToolContext } from "#lib/mcp/tool.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { minutes } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** Less than the 60 seconds after which clients end a call by default. */
const WAIT_SECONDS = 25;
/** By default, clients end a call with an error after ten rounds, so this service answers the call before that. */
const ROUNDS_MAX = 8;
/** A repeated call counts as the same purchase for this long after the request expired, to read how the request ended. */
const KEPT_MS = minutes(10);

export type Question = {
  readonly checkoutIntentId: string;
  readonly url: string;
  /** The payment that the approval allows: an earlier one of this agent, if that one asked the same question. */
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

/** The answer if no page can be shown, the person closed it, after too many rounds, or without the right to read checkouts. */
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

/** Only a repeated call of a client that shows the page waits. A person who closes the question there decides nothing. */
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
  const { slot, purchaseKey, createdAt } = purchase.row;
  const seller = new URL(intent.storefrontUrl).host;
  const message = `A person must approve ${intent.displayAmount} to ${seller} before it is paid. Open the page to decide.`;
  // The first call has shown the page, so a repeated call does not.
  const page = state === null ? { url, message } : null;
  const wait = { slot, purchaseKey, createdAt: createdAt.getTime(), round: purchase.round, calls };
  return { kind: "input", result: await on.elicitation.ask(wait, page) };
}
