import type { Authorization, ErrorBody, NextAction, PaymentExecution, Reason, Receipt } from "./operations.ts";

/** The base class of the errors that this package exports. `nextActions` says what can be done about an error. */
export class CountersignError extends Error {
  readonly nextActions: readonly NextAction[];

  constructor(message: string, { nextActions = [], cause }: { nextActions?: readonly NextAction[]; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.nextActions = nextActions;
  }
}

/** The service refused a request. `code` is stable, `message` is for people. */
export class ServiceRefused extends CountersignError {
  readonly problem: ErrorBody;
  readonly code: string;
  readonly status: number;

  constructor(problem: ErrorBody) {
    const fields = (problem.errors ?? []).map(({ pointer, detail }) => ` ${pointer}: ${detail}`).join("");
    super(`${problem.code}: ${problem.detail}${fields}`, { nextActions: problem.nextActions });
    this.problem = problem;
    this.code = problem.code;
    this.status = problem.status;
  }
}

/**
 * The service could not be reached, or its answer was cut off, is not JSON, or is an error without a problem. The outcome is
 * not known: repeat the call with the same operation.
 */
export class ServiceUnreachable extends CountersignError {}

/** The seller could not be reached, broke off before it answered, or its URL is not an http address. This call paid nothing. */
export class SellerUnreachable extends CountersignError {}

/** The seller's 402 cannot be paid or read, or the call names only one of sellerId and resourceId. This call paid nothing. */
export class ChallengeRefused extends CountersignError {}

const sentence = (reasons: readonly Reason[]): string =>
  reasons
    .filter(({ effect }) => effect === "deny")
    .map(({ message }) => message)
    .join(" ");

/**
 * The mandate denies the payment. A repeat with the same operation gets the same answer: to ask again, use another operation.
 */
export class PaymentDenied extends CountersignError {
  readonly authorization: Authorization;
  readonly reasons: readonly Reason[];
  readonly denialCode: string | undefined;

  constructor(authorization: Authorization) {
    const { reasons, denialCode } = authorization.policyDecision;
    super(sentence(reasons) || "The mandate denies this payment.");
    this.authorization = authorization;
    this.reasons = reasons;
    this.denialCode = denialCode;
  }
}

/** A person must approve first, and `onApproval` answered "stop". Call again with the same operation after the approval. */
export class ApprovalRequired extends CountersignError {
  /** The page for the person. */
  readonly url: string;

  constructor(url: string) {
    super(`A person must approve this payment first, at ${url}.`);
    this.url = url;
  }
}

/** A person declined, or took the approval back. Do not ask again. */
export class ApprovalDeclined extends CountersignError {}

/** Nobody decided in time. This is not a refusal: ask again once, under another operation. */
export class ApprovalExpired extends CountersignError {}

/**
 * The authorization can no longer be paid, for example because it expired or another operation used its approval. Nothing was
 * paid for this operation: call again under another one.
 */
export class AuthorizationEnded extends CountersignError {}

/** The payment failed, and the seller was not paid. `code` says why, such as insufficient_funds. */
export class PaymentFailed extends CountersignError {
  readonly code: string;
  readonly authorization: Authorization;

  constructor(authorization: Authorization, code: string, detail: string, nextActions: readonly NextAction[] = []) {
    super(`${code}: ${detail}`, { nextActions });
    this.code = code;
    this.authorization = authorization;
  }
}

export type Attempt = {
  readonly authorization: Authorization;
  readonly execution: PaymentExecution;
  /** The signed record of the execution. Null if it was not read, or could not be read. */
  readonly receipt: Receipt | null;
  /** The last answer of the seller to the credential; absent if none came by HTTP. */
  readonly response?: Response;
  /** The result of a tool that failed, or the error with which the call ended. */
  readonly cause?: unknown;
};

/**
 * The credential was sent to the seller, who did not serve, or the outcome of the service's own settlement is not known. The
 * service has not seen the payment settled, but the credential can still be settled until it expires. Call again with the same
 * operation: it uses the same credential. The subclass PaidButNotServed is for a payment that is settled.
 */
export class NotServed extends CountersignError {
  readonly authorization: Authorization;
  readonly execution: PaymentExecution;
  readonly receipt: Receipt | null;
  readonly response: Response | undefined;

  constructor({ authorization, execution, receipt, response, cause }: Attempt, message?: string) {
    const answered = response === undefined ? "did not serve" : `answered ${response.status}`;
    super(
      message ??
        `The seller ${answered}, and the payment is not settled so far. Call again with the same operation: it uses the same credential.`,
      { cause },
    );
    this.authorization = authorization;
    this.execution = execution;
    this.receipt = receipt;
    this.response = response;
  }
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
}
