/*
 * A purchase by an agent, as pure decisions: the facts about it say the next step. pay.fetch, the MCP tools and the test payment of the
 * pages carry these steps out. purchase-steps.json has a case for each rule.
 */

export type Maybe<T> = T | undefined;
/** What each status of a request for approval decides: null while nobody has decided. */
const decisions = {
  unread: null,
  unreadable: null,
  previewed: null,
  awaiting_approval: null,
  approved: "approved",
  authorized: "approved",
  executing: "approved",
  completed: "approved",
  rejected: "declined",
  expired: "expired",
  canceled: "canceled",
  failed: "canceled",
  superseded: "canceled",
} as const;

export type Execution = {
  readonly executionId: string;
  readonly settlementStatus: "pending" | "processing" | "settled" | "failed" | "unknown";
};
type Reason = {
  readonly effect: string;
  readonly href?: Maybe<string>;
  readonly checkoutIntentId?: Maybe<string>;
  readonly next?: Maybe<{ readonly body?: Maybe<Readonly<Record<string, unknown>>> }>;
};
type Authorization = {
  readonly authorizationId: string;
  readonly policyDecision: { readonly outcome: "allow" | "deny" | "requireApproval"; readonly reasons: readonly Reason[] };
};

/** The request for approval. Its page is at `url`. */
export type Question = {
  readonly url: string;
  readonly checkoutIntentId: string;
  /** The authorization that the approval allows to pay: an earlier one, if that one asked about the same payment. */
  readonly authorizationId: string;
};

export type Facts<E extends Execution = Execution> = {
  /**
   * What is known of the purchase's idempotency key: it was just made, an earlier call may have used it, the service refused it
   * because it was used with other terms, or nothing was authorized with it for this purchase.
   */
  readonly key: "new" | "named" | "reused" | "unused";
  readonly offer: "payable" | "expired";
  /** The purchase's own authorization. Null until it is known. */
  readonly authorization: Authorization | null;
  /** The status of the request for approval, as it was last read. It is unreadable without the right to read it. */
  readonly question: keyof typeof decisions;
  /** Whether this call has named the page to a person. */
  readonly isAsked: boolean;
  /** The executions of the authorization that pays. Null if they must be read. */
  readonly executions: readonly E[] | null;
  /** The id of the execution that this call made, found by a key of the purchase, or read more than once. Null if there is none. */
  readonly followed: string | null;
  /**
   * Keys under which executePayment did not answer with an execution: the authorization was used when a new attempt came, the
   * repeated key made none that counts, or another call uses the key. A key that came too late can be this purchase's all the same,
   * if another call of the purchase used it a moment before, so it is repeated.
   */
  readonly attempts: Readonly<Record<string, "late" | "none" | "inFlight">>;
  readonly isSigned: boolean;
  /** Whether the seller got the credential, and whether it served then. */
  readonly shown: "no" | "served" | "notServed";
  /** Whether the call has waited for an outcome as long as it may. */
  readonly isLate: boolean;
};

export const noFacts: Facts<never> = {
  key: "named",
  offer: "payable",
  authorization: null,
  question: "unread",
  isAsked: false,
  executions: null,
  followed: null,
  attempts: {},
  isSigned: false,
  shown: "no",
  isLate: false,
};

export type Why =
  | "offerExpired"
  | "keyReused"
  | "denied"
  | "nobodyAsked"
  | "declined"
  | "expired"
  | "canceled"
  | "consumed"
  | "failed"
  | "settling"
  | "paid"
  | "paidButNotServed"
  | "notServed";

type OutcomeStep<E extends Execution> =
  | { readonly step: "wait"; readonly for: "outcome"; readonly execution: E }
  | { readonly step: "show"; readonly execution: E }
  | { readonly step: "ended"; readonly why: Why; readonly execution?: E };

export type Step<E extends Execution = Execution> =
  | OutcomeStep<E>
  /** From the seller's offer, or from what an earlier call with this key authorized for the same purchase. */
  | { readonly step: "authorize"; readonly from: "offer" | "earlier" }
  | { readonly step: "ask"; readonly question: Question }
  | { readonly step: "wait"; readonly for: "person"; readonly question: Question }
  | { readonly step: "wait"; readonly for: "payment" | "attempt"; readonly authorizationId: string }
  | { readonly step: "sign"; readonly authorizationId: string }
  /** A repeat finds the execution that this key made, and makes none. It needs no credential. */
  | {
      readonly step: "execute";
      readonly authorizationId: string;
      readonly idempotencyKey: string;
      readonly isRepeat: boolean;
    }
  | { readonly step: "paidForAnother"; readonly authorizationId: string };

export type StepNamed<Name extends Step["step"], E extends Execution = Execution> = Extract<Step<E>, { readonly step: Name }>;

const ended = (why: Why) => ({ step: "ended", why }) as const;

export function questionIn({ authorizationId, policyDecision }: Authorization): Question | null {
  const asking = policyDecision.reasons.find(({ effect, href }) => effect === "approval" && href !== undefined);
  if (policyDecision.outcome !== "requireApproval" || asking?.href === undefined) return null;
  const payable = asking.next?.body?.["authorizationId"];
  return {
    url: asking.href,
    checkoutIntentId: asking.checkoutIntentId ?? asking.href.split("/").at(-1) ?? "",
    authorizationId: typeof payable === "string" ? payable : authorizationId,
  };
}

export const decisionOf = (status: Facts["question"]) => decisions[status];

/** The first attempt has the id of the purchase's own authorization as its key. Only a failed attempt is followed by another key. */
const attemptKey = (ownId: string, attempts: number): string => (attempts === 0 ? ownId : `${ownId}.${attempts}`);

function authorizeStep<E extends Execution>({ key, offer }: Facts<E>): Step<E> {
  const isExpired = offer === "expired";
  if (key === "unused" || (isExpired && key === "new")) return ended(isExpired ? "offerExpired" : "keyReused");
  return { step: "authorize", from: isExpired || key === "reused" ? "earlier" : "offer" };
}

export function outcomeStep<E extends Execution>(
  execution: E,
  { shown, isLate }: Pick<Facts, "shown" | "isLate">,
): OutcomeStep<E> {
  const { settlementStatus } = execution;
  if (shown === "served") return { ...ended("paid"), execution };
  if (settlementStatus === "failed") return { ...ended("failed"), execution };
  if (shown === "notServed" && settlementStatus === "settled") return { ...ended("paidButNotServed"), execution };
  const isOpen = settlementStatus === "processing" || settlementStatus === "unknown";
  if (shown === "no" && !isOpen) return { step: "show", execution };
  if (isLate) return { ...ended(shown === "no" ? "settling" : "notServed"), execution };
  return { step: "wait", for: "outcome", execution };
}

/**
 * Several purchases can share an approval, so an execution of an approved payment is this purchase's only if the service answers with
 * it to a key of this purchase.
 */
function ownStep(ownId: string, authorizationId: string, executions: number, { attempts }: Facts): Step<never> {
  const keys = Array.from({ length: executions }, (_, at) => attemptKey(ownId, executions - 1 - at));
  const idempotencyKey = keys.find((key) => attempts[key] === undefined || attempts[key] === "late");
  if (idempotencyKey === undefined) return { step: "paidForAnother", authorizationId };
  return { step: "execute", authorizationId, idempotencyKey, isRepeat: true };
}

function payStep<E extends Execution>(facts: Facts<E>, ownId: string, question: Question | null): Step<E> {
  const { executions, followed, isSigned } = facts;
  const authorizationId = question?.authorizationId ?? ownId;
  const attempts = Object.values(facts.attempts);
  if (attempts.includes("inFlight")) return { step: "wait", for: "attempt", authorizationId };
  if (!executions) return { step: "wait", for: "payment", authorizationId };
  // An execution that this call follows is not followed by another attempt, also if it failed.
  const own = executions.find(({ executionId }) => executionId === followed);
  if (own) return outcomeStep(own, facts);
  const live = executions.find(({ settlementStatus }) => settlementStatus !== "failed");
  if (live) return question ? ownStep(ownId, authorizationId, executions.length, facts) : outcomeStep(live, facts);
  if (attempts.includes("none") || attempts.includes("late")) return ended("consumed");
  const idempotencyKey = attemptKey(ownId, executions.length);
  return isSigned ? { step: "execute", authorizationId, idempotencyKey, isRepeat: false } : { step: "sign", authorizationId };
}

export function stepOf<E extends Execution>(facts: Facts<E>): Step<E> {
  const { authorization } = facts;
  if (!authorization) return authorizeStep(facts);
  const { outcome } = authorization.policyDecision;
  if (outcome === "deny") return ended("denied");
  const question = questionIn(authorization);
  if (outcome === "requireApproval") {
    if (!question) return ended("nobodyAsked");
    const decision = decisionOf(facts.question);
    if (decision === null)
      return facts.question === "unread" || facts.isAsked ? { step: "wait", for: "person", question } : { step: "ask", question };
    if (decision !== "approved") return ended(decision);
  }
  return payStep(facts, authorization.authorizationId, question);
}
