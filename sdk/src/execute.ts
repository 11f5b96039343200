import type { Challenge } from "./challenge.ts";
import type { Context } from "./context.ts";
import { ApprovalDeclined, ApprovalExpired, AuthorizationEnded, NotServed, PaymentFailed, ServiceRefused } from "./errors.ts";
import { withTimeout } from "./mpp.ts";
import type { Authorization, PaymentExecution } from "./operations.ts";
import { pause } from "./service.ts";
import { sign } from "./sign.ts";

const POLL_MS = 500;
const SETTLE_LIMIT_MS = 120_000;
const NO_WALLET =
  "The payment must be signed, and this client has no wallet. Set AGENT_PRIVATE_KEY on the command line or the option wallet in code, or register the mandate on the chain, so that the service signs.";

type Execute = {
  readonly authorization: Authorization;
  readonly challenge: Challenge;
  readonly mayHaveExecutions: boolean;
  /**
   * The id of this operation's own authorization. It differs from the id of `authorization` if a person was asked about the
   * same payment for an earlier operation.
   */
  readonly ownId: string;
};

const attemptKey = (ownId: string, attempts: number): string => (attempts === 0 ? ownId : `${ownId}.${attempts}`);

/** `attempts` is the number of executions of `authorizationId`. */
type Shared = { readonly authorizationId: string; readonly ownId: string; readonly attempts: number };

/** Returns the error for an operation whose approval another operation has used, because both asked for the same payment. */
async function paidForAnother(
  { service }: Context,
  { authorizationId, ownId }: Shared,
  signal: AbortSignal,
): Promise<AuthorizationEnded> {
  const { intent } = await service.api.getPayment({ authorizationId }, { signal });
  const first = ownId === authorizationId ? "this operation" : `the operation ${intent.idempotencyKey}`;
  return new AuthorizationEnded(
    `Two operations asked for this payment. A person was asked only once, for ${first}, and another operation paid. Nothing was paid for this operation. To buy again, call under another operation.`,
  );
}

/**
 * Returns the execution of a payment that a person approved, if this operation made it. Several operations can share an approval.
 * Each has its own idempotency keys, and the service repeats its answer only for the key that made the execution.
 * @throws AuthorizationEnded if another operation made it
 */
async function ownExecution(context: Context, ids: Shared, signal: AbortSignal): Promise<PaymentExecution> {
  const { authorizationId, ownId, attempts } = ids;
  for (let attempt = attempts - 1; attempt >= 0; attempt -= 1) {
    const body = { authorizationId, idempotencyKey: attemptKey(ownId, attempt) };
    try {
      return (await context.service.call("executePayment", { body }, { signal })).body;
    } catch (error) {
      // No execution was made with this key, or that execution failed.
      const isOther = error instanceof ServiceRefused && (error.code === "authorization_consumed" || error.status === 402);
      if (!isOther) throw error;
    }
  }
  throw await paidForAnother(context, ids, signal);
}

const isLive = ({ settlementStatus }: PaymentExecution): boolean => settlementStatus !== "failed";

async function executionsOf({ service }: Context, authorizationId: string, signal: AbortSignal) {
  return (await service.api.getPayment({ authorizationId }, { signal })).executions;
}

/** Returns this package's error for a refusal of executePayment. An error that has no class of its own stays as it is. */
function errorOf(error: unknown, authorization: Authorization): unknown {
  if (!(error instanceof ServiceRefused)) return error;
  const { code, problem } = error;
  const why = { nextActions: problem.nextActions, cause: error };
  if (code === "approval_rejected" || code === "approval_revoked") return new ApprovalDeclined(problem.detail, why);
  if (code === "approval_expired") return new ApprovalExpired(problem.detail, why);
  if (code === "authorization_expired" || code === "authorization_consumed") return new AuthorizationEnded(problem.detail, why);
  if (code === "credential_missing") return new PaymentFailed(authorization, code, NO_WALLET, problem.nextActions);
  if (error.status === 402) return new PaymentFailed(authorization, code, problem.detail, problem.nextActions);
  return error;
}

/**
 * Executes an authorization once, even if several calls or processes try it. The idempotency key of the first attempt is the id
 * of the operation's authorization; only after a failed attempt a new key is used.
 */
export async function executeOnce(context: Context, execute: Execute, signal: AbortSignal): Promise<PaymentExecution> {
  const { authorization, challenge, mayHaveExecutions, ownId } = execute;
  const { service, wallet } = context;
  const { authorizationId } = authorization;
  const payment = mayHaveExecutions ? await service.api.getPayment({ authorizationId }, { signal }) : null;
  const earlier = payment?.executions ?? [];
  const wasAsked = authorization.policyDecision.outcome === "requireApproval";
  const open = earlier.find(isLive);
  const idempotencyKey = attemptKey(ownId, earlier.length);
  if (open) {
    const execution = wasAsked ? await ownExecution(context, { authorizationId, ownId, attempts: earlier.length }, signal) : open;
    return untilKnown(context, execution, authorization, signal);
  }
  const signable = payment ? withTimeout(challenge, payment.intent.challenge) : challenge;
  const paymentCredential = wallet && (await sign(wallet, signable, authorizationId));
  const request = { body: { authorizationId, idempotencyKey, ...(paymentCredential !== undefined && { paymentCredential }) } };
  try {
    const { body } = await service.call("executePayment", request, { signal });
    return await untilKnown(context, body, authorization, signal);
  } catch (error) {
    const isConsumed = error instanceof ServiceRefused && error.code === "authorization_consumed";
    const made = isConsumed ? await executionsOf(context, authorizationId, signal) : [];
    const live = made.find(isLive);
    if (!live) throw errorOf(error, authorization);
    const execution = wasAsked ? await ownExecution(context, { authorizationId, ownId, attempts: made.length }, signal) : live;
    return untilKnown(context, execution, authorization, signal);
  }
}

/**
 * Waits while the service settles the payment itself, for at most two minutes.
 * @throws PaymentFailed; NotServed if the outcome is still not known
 */
async function untilKnown(
  { service }: Context,
  execution: PaymentExecution,
  authorization: Authorization,
  signal: AbortSignal,
): Promise<PaymentExecution> {
  const until = Date.now() + SETTLE_LIMIT_MS;
  let now = execution;
  while (now.settlementStatus === "processing" || now.settlementStatus === "unknown") {
    if (Date.now() > until)
      throw new NotServed(
        { authorization, execution: now, receipt: null },
        "The outcome of the settlement is not known yet. Call again with the same operation; do not pay again.",
      );
    await pause(POLL_MS, signal);
    now = await service.api.getExecution({ executionId: now.executionId }, { signal });
  }
  if (now.settlementStatus === "failed")
    throw new PaymentFailed(authorization, now.failureCode ?? "verification_failed", now.failureDetail ?? "The payment failed.");
  return now;
}
