import { clock, transact } from "#lib/audit/transact.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import { closeCheckout, openToClose } from "#lib/approvals/close-checkout.ts";
import { statusAt } from "#lib/approvals/present-checkout.ts";
import { dueApprovals, dueCheckouts, revokedCheckouts, type Scope } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { isProblem } from "#lib/problem.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

const ROWS = 200;

/** Closes at most ROWS expired, ROWS revoked and ROWS approved checkouts that are due, and returns how many it closed. */
export async function sweepCheckouts(): Promise<number> {
  let swept = 0;
  for (const due of [dueCheckouts, revokedCheckouts]) {
    for (const checkout of await due(database(), ROWS)) swept += await sweepOne(checkout, checkout.checkoutIntentId);
  }
  for (const { approval, environment } of await dueApprovals(database(), ROWS)) {
    swept += await sweepOne({ organizationId: approval.organizationId, environment }, approval.checkoutIntentId);
  }
  return swept;
}

/** Ignores a Problem, for example because a person decides the checkout now; the next run tries again. */
const sweepOne = (scope: Scope, checkoutIntentId: string): Promise<number> =>
  closeIfDue(scope, checkoutIntentId).catch((error: unknown) => {
    if (isProblem(error)) return 0;
    throw error;
  });

/** Reads the checkout again after the locks, because the reason to close it may be gone. */
const closeIfDue = (scope: Scope, checkoutIntentId: string): Promise<number> =>
  transact(async (tx) => {
    const opened = await openToClose(tx, scope, checkoutIntentId);
    const { checkout, approval, rightsGone } = opened;
    const now = await clock(tx);
    const undecided = statusAt(checkout, now) === "expired" && checkout.status !== "expired";
    const unused = checkout.status === "approved" && approval?.status === "pending" && approval.expiresAt <= now;
    const undecidedPayment = isOpen(checkout.status as CheckoutStatus) && checkout.authorizationId !== null;
    const approved = checkout.status === "approved" && approval?.status === "pending";
    const revoked = (undecidedPayment || approved) && rightsGone;
    if (!undecided && !unused && !revoked) return 0;
    const status = undecided || unused ? "expired" : "canceled";
    await closeCheckout(tx, opened, { status, actorId: "service", metadata: {} }, now);
    return 1;
  });
