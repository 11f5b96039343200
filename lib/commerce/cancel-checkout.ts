import { clock } from "#lib/audit/transact.ts";
import { requireOpen } from "#lib/approvals/decision/approval.ts";
import { closeCheckout, openToClose } from "#lib/approvals/close-checkout.ts";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { presentCheckout } from "#lib/approvals/present-checkout.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** An approved checkout can be canceled too, until its approval is used. */
export const cancelCheckout: Handler<typeof contract.cancelCheckout> = (
  { checkoutIntentId },
  { caller, idempotency, requestId },
) =>
  once(contract.cancelCheckout, idempotency, async (tx) => {
    const opened = await openToClose(tx, caller, checkoutIntentId);
    const { checkout } = opened;
    if (checkout.ownerSubjectId !== caller.subjectId) {
      throw new Problem("forbidden", { detail: "Only the agent that opened this checkout may cancel it." });
    }
    const now = await clock(tx);
    if (checkout.status === "canceled") return { intent: presentCheckout(checkout, now) };
    if (checkout.status !== "approved") requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, now);
    const close = { status: "canceled", actorId: caller.subjectId, metadata: { requestId } } as const;
    return { intent: presentCheckout(await closeCheckout(tx, opened, close, now), now) };
  });
