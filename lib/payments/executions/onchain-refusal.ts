import { env } from "#lib/env.ts";
import { withMandatePages } from "#lib/mandates/mandate-links.ts";
import type { Refusal } from "#lib/onchain/registry/refusals.ts";
import { commonActions } from "#lib/next-actions.ts";
import { presentPaymentFacts } from "#lib/payments/present-execution.ts";
import { Problem, type NextAction, type ProblemDetails } from "#lib/problem.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";

/** The payment is refused before anything is sent or stored, so a retry with the same idempotency key can succeed. */
type RefusedPayment = { readonly mandateId: string; readonly payment: ExpectedPayment; readonly payer?: string };

const { raiseLimit, renewMandate, selectMandate, retryLater } = commonActions;
const register: NextAction = { type: "register_mandate_onchain", label: "Register the mandate on the chain" };
const details = (refused: RefusedPayment, detail: string, ...actions: readonly NextAction[]): ProblemDetails => ({
  detail,
  payment: presentPaymentFacts(refused.payment, refused.payer),
  nextActions: withMandatePages(actions, env().BASE_URL, refused.mandateId),
});

/** Maps a refusal of the registry to a problem, with the code that the policy uses for the same refusal, if it has one. */
export function refusedOnChain(refusal: Exclude<Refusal, "None">, on: RefusedPayment): Problem {
  switch (refusal) {
    case "Unknown":
      return notRegistered(on);
    case "Revoked":
      return new Problem("mandate_revoked", details(on, "The mandate's registration on the chain was revoked.", selectMandate));
    case "NotStarted":
      return new Problem("mandate_not_yet_valid", details(on, "The mandate's time on the chain has not begun.", retryLater));
    case "Ended":
    case "ExpiresAfterEnd":
      return new Problem(
        "mandate_expired",
        details(on, "The mandate's time on the chain has ended.", renewMandate, selectMandate),
      );
    case "OtherPath":
      return new Problem(
        "policy_denied",
        details(on, "The mandate is registered on the chain for another way to pay.", register),
      );
    case "OtherPayee":
      return new Problem("payee_not_allowed", details(on, "The mandate is registered on the chain for another payee.", register));
    case "OtherToken":
      return new Problem("asset_not_allowed", details(on, "The mandate is registered on the chain for another token.", register));
    case "OverPaymentLimit":
      return new Problem(
        "per_payment_limit_exceeded",
        details(on, "The payment is above the limit of one payment that is registered on the chain.", raiseLimit),
      );
    case "SlotOutOfRange":
    case "TooManyPayments":
      return new Problem(
        "count_limit_exceeded",
        details(
          on,
          "All payments of this period that are registered on the chain are used or under way.",
          retryLater,
          raiseLimit,
        ),
      );
    case "OverPeriodLimit":
      return new Problem(
        "period_budget_exceeded",
        details(on, "The period's limit that is registered on the chain is used up.", retryLater, raiseLimit),
      );
    case "OtherPeriod":
      return periodEnds(on, 1);
    case "ZeroValue":
      return new Problem("policy_denied", details(on, "The chain pays no zero amounts. Authorize an amount above zero."));
    case "PaymentUsed":
      return new Problem(
        "authorization_consumed",
        details(on, "The chain shows that this payment was made. Read its executions."),
      );
  }
}

export const notRegistered = (on: RefusedPayment): Problem =>
  new Problem("mandate_not_active", details(on, "The mandate is not registered on the chain.", register));

/** A signature that is made now could arrive too late for this period, and is not valid in the next period. */
export const periodEnds = (on: RefusedPayment, seconds: number): Problem =>
  new Problem("rate_limited", {
    ...details(on, "The mandate's period on the chain ends in a moment. Ask again when the next one has begun.", retryLater),
    retryAfterSeconds: seconds + 1,
  });

/** The token accepts no signature of the service for an account that does not delegate to the service's contract. */
export const notDelegated = (on: RefusedPayment): Problem =>
  new Problem(
    "wallet_not_delegated",
    details(on, "The paying account is not delegated to the smart payment account.", {
      type: "delegate_wallet",
      label: "Delegate the account",
      chain: on.payment.asset.chain,
      ...(on.payer !== undefined && { address: on.payer }),
    }),
  );
