import { notApproved, personSteps } from "./approval.ts";
import type { Challenge } from "./challenge.ts";
import type { Context } from "./context.ts";
import {
  ApprovalDeclined,
  ApprovalExpired,
  AuthorizationEnded,
  NotServed,
  PaymentDenied,
  PaymentFailed,
  ServiceRefused,
} from "./errors.ts";
import { challengeExpired, withTimeout } from "./mpp.ts";
import type { Authorization, Payment, PaymentExecution } from "./operations.ts";
import { afterReading, paying, type Followed, type Transport } from "./purchase/follow.ts";
import { questionIn } from "./purchase/step.ts";
import { pause } from "./service.ts";
import { sign } from "./sign.ts";

const POLL_MS = 500;
const SETTLE_LIMIT_MS = 120_000;
const NO_WALLET =
  "The payment must be signed, and this client has no wallet. Set AGENT_PRIVATE_KEY on the command line or the option wallet in code, or register the mandate on the chain, so that the service signs.";

/** What the steps of one call have seen, for the steps and errors that follow. */
export type Seen = { own?: Authorization; payment?: Payment; refusal?: unknown };

/** The authorization to pay with: an earlier one, if that one asked a person about the same payment. */
const payable = (own: Authorization): Authorization => ({
  ...own,
  authorizationId: questionIn(own)?.authorizationId ?? own.authorizationId,
});

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

/** Another operation has used the approval, because both asked for the same payment. */
function paidForAnother({ own, payment }: Seen, authorizationId: string): AuthorizationEnded {
  const first = own?.authorizationId === authorizationId ? "this operation" : `the operation ${payment?.intent.idempotencyKey}`;
  return new AuthorizationEnded(
    `Two operations asked for this payment. A person was asked only once, for ${first}, and another operation paid. Nothing was paid for this operation. To buy again, call under another operation.`,
  );
}

/** The error for the step at which a purchase ended before its credential could be shown. */
export function endOf({ service }: Context, { step, facts }: Followed<PaymentExecution>, seen: Seen): unknown {
  if (step.step === "paidForAnother") return paidForAnother(seen, step.authorizationId);
  const { own, refusal } = seen;
  if (!own) return step.step === "ended" && step.why === "offerExpired" ? challengeExpired() : refusal;
  if (step.step !== "ended") return errorOf(refusal, payable(own));
  const { why, execution } = step;
  if (why === "denied") return new PaymentDenied(own, service.origin);
  const authorization = payable(own);
  if (why === "consumed") return errorOf(refusal, authorization);
  if (!execution) return notApproved(why, facts);
  if (why === "settling")
    return new NotServed(
      { authorization, execution, receipt: null },
      "The outcome of the settlement is not known yet. Call again with the same operation; do not pay again.",
    );
  const { failureCode = "verification_failed", failureDetail = "The payment failed." } = execution;
  return new PaymentFailed(authorization, failureCode, failureDetail);
}

/** The steps from an authorization to an execution. Several calls or processes that take them for one operation execute it once. */
export function executing(context: Context, challenge: Challenge, seen: Seen, signal: AbortSignal): Transport<PaymentExecution> {
  const { service, wallet } = context;
  const { api } = service;
  let until: number | undefined;
  return {
    ...personSteps(context, signal),
    ...paying<PaymentExecution>({
      executionsOf: async (authorizationId) => (seen.payment = await api.getPayment({ authorizationId }, { signal })).executions,
      sign: async (authorizationId) =>
        wallet && sign(wallet, seen.payment ? withTimeout(challenge, seen.payment.intent.challenge) : challenge, authorizationId),
      execute: async (body) => (await service.call("executePayment", { body }, { signal })).body,
      refusalOf: (error) => (error instanceof ServiceRefused ? (seen.refusal = error) : null),
    }),
    async outcome({ execution: { executionId } }, facts) {
      until ??= Date.now() + SETTLE_LIMIT_MS;
      await pause(POLL_MS, signal);
      const now = await api.getExecution({ executionId }, { signal });
      return { ...afterReading(facts, now), isLate: Date.now() > until };
    },
  };
}
