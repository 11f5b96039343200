import { approvalEnd, noMatchingMandate, requireOpen } from "#lib/approvals/decision/approval.ts";
import { intentToRepeat, intentOfCheckout } from "#lib/approvals/intent-of-checkout.ts";
import { findWithCandidates } from "#lib/approvals/candidate-store.ts";
import { chargedFor } from "#lib/approvals/checkout-rows.ts";
import type * as contract from "#lib/commerce/checkout-contract.ts";
import { mandateChoices, presentChoices, type Choice } from "#lib/commerce/mandate-choices.ts";
import { database } from "#lib/db/client.ts";
import { storedReply, type Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { submitItem } from "#lib/payments/authorize-payment.ts";
import type { NamedIntent } from "#lib/payment-intent.ts";
import { notFound } from "#lib/problem.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** The queue of authorizations runs the transaction of the approval, which also makes the hold if there is none. */
export const approveCheckout: Handler<typeof contract.approveCheckout> = async (
  { checkoutIntentId, body },
  { caller, idempotency, requestId },
) => {
  const found = await findWithCandidates(database(), caller, checkoutIntentId, body.mandateId ?? null);
  if (!found) throw notFound("checkout");
  const { checkout } = found;
  const choices = await mandateChoices({ ...checkout, charged: chargedFor(checkout) }, found);
  const decided = found.approval?.mandateId;
  const mandateId = decided ? (body.mandateId ?? decided) : chooseMandate(found, choices, body.mandateId);
  // If people chose mandates for this agent, `found.mandates` has only those, so the person cannot name another one here.
  if (!decided && !found.mandates.some((candidate) => candidate.mandateId === mandateId)) throw notFound("mandate");
  const intent = intentOf(found);
  const { userId, sessionId, organizationId, environment } = caller;
  const answer = await submitItem({
    slot: idempotency?.slot ?? newId("request"),
    // The row requires a fingerprint; without an idempotency key, no later request is compared with it.
    fingerprint: idempotency?.fingerprint ?? "none",
    idempotencyKey: idempotency?.key ?? checkoutIntentId,
    organizationId,
    environment,
    asker: { kind: "session", subjectId: userId, sessionId },
    mandateId,
    intent,
    requestId,
    purchase: {
      kind: "approval",
      orderId: null,
      checkoutIntentId: checkout.checkoutIntentId,
      checkout,
      hasKey: idempotency !== null,
      mandates: presentChoices(choices),
    },
  });
  if (answer.kind === "problem") throw answer.problem;
  return storedReply(answer.status, answer.body, answer.replayed);
};

type OpenCheckout = NonNullable<Awaited<ReturnType<typeof findWithCandidates>>>;

/** The mandate that the person chose, else the checkout's, else the only one that can pay. */
function chooseMandate({ checkout, now }: OpenCheckout, choices: readonly Choice[], chosen: string | undefined): string {
  requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, now);
  if (checkout.authorizationId !== null && chosen !== undefined && chosen !== checkout.mandateId) {
    throw noMatchingMandate("This payment was authorized under another mandate; it can be approved only under that one.");
  }
  const mandateId = chosen ?? checkout.mandateId;
  if (mandateId !== null) return mandateId;
  const [only, another] = choices.filter((choice) => choice.match);
  if (only && !another) return only.mandateId;
  throw noMatchingMandate(
    only ? "Several mandates cover this checkout. Choose one." : "None of your mandates covers this checkout now.",
  );
}

/** The intent of the authorization that asked for this approval, or else a new one. */
function intentOf({ checkout, authorization, now }: OpenCheckout): NamedIntent {
  return authorization?.outcome === "requireApproval"
    ? intentToRepeat(authorization.intent)
    : intentOfCheckout(checkout, approvalEnd(checkout, now));
}
