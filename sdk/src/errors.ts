import { hide } from "./hide.ts";
import { denialActions } from "./operations.ts";
import type { Authorization, ErrorBody, NextAction, PaymentExecution, Reason, Receipt } from "./operations.ts";

type More = { readonly nextActions?: readonly NextAction[] | undefined; readonly cause?: unknown };

const again = (label: string): NextAction => ({ type: "retry_later", label });
const toText = ({ label, href }: NextAction): string => `\n  Next: ${label}${href === undefined ? "" : ` (${href})`}`;

/** The base class of the errors that this package exports. `nextActions` says what can be done about an error. */
export class CountersignError extends Error {
  /** What can be done about any error of this class. */
  protected static readonly usual: readonly NextAction[] = [
    { type: "correct_request", label: "Correct what the message names, and call again" },
  ];
  declare readonly nextActions: readonly NextAction[];

  constructor(message: string, { nextActions, cause }: More = {}) {
    super(message, cause === undefined ? undefined : { cause });
    const actions = nextActions?.length ? nextActions : new.target.usual;
    hide(this, { name: new.target.name, nextActions: actions });
    // Node prints the stack of an error that nobody catches, and no other text of this class.
    const frames = this.stack?.slice(Math.max(this.stack.indexOf("\n    at "), 0)) ?? "";
    hide(this, { stack: `${this.name}: ${message}${actions.map(toText).join("")}${frames}` });
  }
}

/** The service refused a request. `code` is stable, `message` is for people. */
export class ServiceRefused extends CountersignError {
  declare readonly problem: ErrorBody;
  declare readonly code: string;
  declare readonly status: number;
  /** How long the service asks to wait. */
  declare readonly retryAfterMs: number;

  constructor(problem: ErrorBody, retryAfterMs = 0) {
    const fields = (problem.errors ?? []).map(({ pointer, detail }) => ` ${pointer}: ${detail}`).join("");
    super(`${problem.code}: ${problem.detail}${fields}`, { nextActions: problem.nextActions });
    hide(this, { problem, code: problem.code, status: problem.status, retryAfterMs });
  }
}

/**
 * The service could not be reached, or its answer was cut off, is not JSON, or is an error without a problem. The outcome is
 * not known: repeat the call with the same operation.
 */
export class ServiceUnreachable extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [again("Call again with the same operation")];
}

/** The seller could not be reached, broke off before it answered, or its URL is not an http address. This call paid nothing. */
export class SellerUnreachable extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [
    again("Check the address, and call again with the same operation"),
  ];
}

/** The seller's 402 cannot be paid or read, or the call names only one of sellerId and resourceId. This call paid nothing. */
export class ChallengeRefused extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [{ type: "use_other_seller", label: "Use another seller" }];
}

/** Where a person can do what a denial asks for. */
const pages: Partial<Readonly<Record<NextAction["type"], string>>> = {
  create_mandate: "/mandates/new",
  select_mandate: "/mandates",
  resume_mandate: "/mandates/{id}",
  raise_mandate_limit: "/mandates/{id}/edit",
  renew_mandate: "/mandates/{id}/edit",
};

const sentence = (reasons: readonly Reason[]): string =>
  reasons
    .filter(({ effect }) => effect === "deny")
    .map(({ message }) => message)
    .join(" ");

/**
 * The mandate denies the payment. A repeat with the same operation gets the same answer: to ask again, use another operation.
 */
export class PaymentDenied extends CountersignError {
  declare readonly authorization: Authorization;
  declare readonly reasons: readonly Reason[];
  declare readonly denialCode: string | undefined;

  /** `service` is the address of its pages, where a person changes the mandate. */
  constructor(authorization: Authorization, service?: string) {
    const { reasons, denialCode, mandateId } = authorization.policyDecision;
    const usual = denialCode === undefined ? undefined : denialActions[denialCode];
    const nextActions = usual?.map((action) => {
      const page = pages[action.type]?.replace("{id}", mandateId);
      return service === undefined || page === undefined ? action : { ...action, href: `${service}${page}` };
    });
    super(sentence(reasons) || "The mandate denies this payment.", { nextActions });
    hide(this, { authorization, reasons, denialCode });
  }

  protected static override readonly usual: readonly NextAction[] = [{ type: "use_other_seller", label: "Use another seller" }];
}

/** A person must approve first, and `onApproval` answered "stop". Call again with the same operation after the approval. */
export class ApprovalRequired extends CountersignError {
  /** The page for the person. */
  declare readonly url: string;

  constructor(url: string) {
    const label = "Give the page to the person who approves, then call again with the same operation";
    super(`A person must approve this payment first, at ${url}.`, {
      nextActions: [{ type: "approve_checkout", label, href: url }],
    });
    hide(this, { url });
  }
}

/** A person declined, or took the approval back. Do not ask again. */
export class ApprovalDeclined extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [
    { type: "use_other_seller", label: "Do not ask again for this payment, and choose another one" },
  ];
}

/** Nobody decided in time. This is not a refusal: ask again once, under another operation. */
export class ApprovalExpired extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [again("Ask again, once, under another operation")];
}

/**
 * The authorization can no longer be paid, for example because it expired or another operation used its approval. Nothing was
 * paid for this operation: call again under another one.
 */
export class AuthorizationEnded extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [
    again("To buy, or to buy again, call under another operation"),
  ];
}

/** The payment failed, and the seller was not paid. `code` says why, such as insufficient_funds. */
export class PaymentFailed extends CountersignError {
  declare readonly code: string;
  declare readonly authorization: Authorization;

  constructor(authorization: Authorization, code: string, detail: string, nextActions: readonly NextAction[] = []) {
    super(`${code}: ${detail}`, { nextActions });
    hide(this, { code, authorization });
  }

  protected static override readonly usual: readonly NextAction[] = [
    again("Remove the cause, and call again with the same operation"),
  ];
}

export type Attempt = {
  readonly authorization: Authorization;
  readonly execution: PaymentExecution;
  /** The signed record of the execution. Null if it was not read, or could not be read. */
  readonly receipt: Receipt | null;
  /** The last answer of the seller to the credential; absent if none came by HTTP. */
  readonly response?: Response;
  /** The result of a tool that failed. */
  readonly result?: unknown;
  readonly cause?: unknown;
};

/**
 * The credential was sent to the seller, who did not serve, or the outcome of the service's own settlement is not known. The
 * service has not seen the payment settled, but the credential can still be settled until it expires. Call again with the same
 * operation: it uses the same credential. The subclass PaidButNotServed is for a payment that is settled.
 */
export class NotServed extends CountersignError {
  declare readonly authorization: Authorization;
  declare readonly execution: PaymentExecution;
  declare readonly receipt: Receipt | null;
  declare readonly response: Response | undefined;
  /** The result of an MCP tool that failed after the payment. Undefined for a seller by HTTP. */
  declare readonly result: unknown;

  constructor({ authorization, execution, receipt, response, result, cause }: Attempt, message?: string) {
    const answered = response === undefined ? "did not serve" : `answered ${response.status}`;
    super(
      message ??
        `The seller ${answered}, and the payment is not settled so far. Call again with the same operation: it uses the same credential.`,
      { cause },
    );
    hide(this, { authorization, execution, receipt, response, result });
  }

  protected static override readonly usual: readonly NextAction[] = [
    again("Call again with the same operation, which shows the same credential"),
  ];
}

/**
 * The payment is on the chain, but the seller did not serve or its answer was lost. Show the receipt to the seller; do not pay
 * again.
 */
export class PaidButNotServed extends NotServed {
  constructor(attempt: Attempt) {
    const answered = attempt.response === undefined ? "did not serve" : `answered ${attempt.response.status}`;
    super(attempt, `The payment was made, and the seller ${answered}. Ask the seller with the execution and the receipt.`);
  }

  protected static override readonly usual: readonly NextAction[] = [
    { type: "contact_support", label: "Show the seller the execution and the receipt, and do not pay again" },
  ];
}
