import { placeAgain, redeemCall } from "#lib/commerce/agent-calls.ts";
import { pollCheckout } from "#lib/approvals/poll-checkout.ts";
import { execute } from "#lib/payments/execute-call.ts";
import { findWithCandidates } from "#lib/approvals/candidate-store.ts";
import { chargedFor, type ApprovalRow, type CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type * as contract from "#lib/commerce/checkout-contract.ts";
import { continuationTokenOf } from "#lib/approvals/decision/continuation-token.ts";
import { mandateChoices, presentChoices } from "#lib/commerce/mandate-choices.ts";
import { findOrderById } from "#lib/commerce/order/order-store.ts";
import { presentApproval, presentCheckout, statusAt } from "#lib/approvals/present-checkout.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import { decisionOf } from "#lib/approvals/store.ts";
import { inWaitingPlace, waitForChange } from "#lib/commerce/wait-for-checkout.ts";
import { database } from "#lib/db/client.ts";
import type { Call } from "#lib/call-schema.ts";
import type { Caller, Handler, Output } from "#lib/http/operation.ts";
import { notificationOf } from "#lib/notices/notification.ts";
import { notFound } from "#lib/problem.ts";

type Found = NonNullable<Awaited<ReturnType<typeof findWithCandidates>>>;

/** With waitSeconds, first waits up to that long while the checkout is open. */
export const getCheckout: Handler<typeof contract.getCheckout> = ({ checkoutIntentId, query }, { caller, request }) => {
  const read = async (): Promise<Found> => {
    const found = await findWithCandidates(database(), caller, checkoutIntentId, null);
    if (!found) throw notFound("checkout");
    return found;
  };
  const waitMs = (query.waitSeconds ?? 0) * 1_000;
  if (waitMs === 0) return read().then((found) => present(found, caller));
  return inWaitingPlace(caller.organizationId, async (reading) => {
    const first = await reading(read);
    const { checkout, approval, now } = first;
    const left = Math.min(waitMs, checkout.expiresAt.getTime() - now.getTime());
    if (left <= 0 || !isOpen(statusAt(checkout, now))) return reading(() => present(first, caller));
    const wait = { checkoutIntentId, state: decisionOf(checkout.status, approval?.status ?? null) };
    await waitForChange(wait, left, request.signal);
    return reading(async () => present(await read(), caller));
  });
};

async function present(
  { checkout, approval, now, mandates }: Found,
  caller: Caller,
): Promise<Output<typeof contract.getCheckout>> {
  const open = isOpen(statusAt(checkout, now));
  const approved = approval?.status === "pending" && approval.expiresAt > now ? approval : null;
  const continuationToken = approved && tokenFor(caller, checkout, approved);
  const notification = await notificationOf(checkout, now);
  return {
    intent: presentCheckout(checkout, now),
    ...(approval && { approval: presentApproval(approval, checkout.tokenDecimals, now) }),
    mandates: open ? presentChoices(await mandateChoices({ ...checkout, charged: chargedFor(checkout) }, { mandates, now })) : [],
    ...(continuationToken !== null && { continuationToken }),
    ...(notification && { notification }),
    ...(await nextOf(caller, checkout, open ? "open" : approved && "approved", continuationToken)),
  };
}

/** Only the agent that opened the checkout gets the token, and not after authorizePayment: executePayment needs no token. */
function tokenFor(caller: Caller, checkout: CheckoutRow, { continuationTokenId }: ApprovalRow): string | null {
  const mine = caller.kind === "key" && caller.serviceAccountId === checkout.ownerSubjectId;
  return mine && continuationTokenId !== null && checkout.storefront !== null ? continuationTokenOf(continuationTokenId) : null;
}

type State = "open" | "approved" | null;

/** Empty if there is no next call or another caller asks. */
async function nextOf(caller: Caller, checkout: CheckoutRow, state: State, token: string | null): Promise<{ next?: Call }> {
  const { checkoutIntentId, authorizationId, orderId } = checkout;
  if (state === null || caller.subjectId !== checkout.ownerSubjectId) return {};
  if (state === "open") return { next: pollCheckout(checkoutIntentId) };
  if (orderId !== null) {
    const order = await findOrderById(database(), orderId);
    return order ? { next: placeAgain(order) } : {};
  }
  if (token !== null) return { next: redeemCall(checkoutIntentId, token) };
  return checkout.storefront === null && authorizationId !== null ? { next: execute(authorizationId) } : {};
}
