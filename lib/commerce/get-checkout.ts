import { clock } from "#lib/audit/transact.ts";
import type * as contract from "#lib/commerce/contract.ts";
import { continuationTokenOf } from "#lib/commerce/continuation.ts";
import { chargedFor, mandateChoices, presentChoices } from "#lib/commerce/mandate-choices.ts";
import { presentApproval, presentCheckout, statusAt } from "#lib/commerce/present-checkout.ts";
import { isOpen } from "#lib/commerce/state.ts";
import { decisionOf, findApproval, findCheckout } from "#lib/commerce/store.ts";
import { waitForChange } from "#lib/commerce/wait-for-checkout.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { notFound } from "#lib/problem.ts";

/** A checkout as it is, or as soon as its buyer has decided. */
export const getCheckout: Handler<typeof contract.getCheckout> = async ({ checkoutIntentId, query }, { caller, request }) => {
  const read = async () => {
    const checkout = await findCheckout(database(), caller, checkoutIntentId);
    if (!checkout) throw notFound("checkout");
    return { checkout, approval: await findApproval(database(), checkoutIntentId), now: await clock(database()) };
  };
  let { checkout, approval, now } = await read();
  const left = Math.min((query.waitSeconds ?? 0) * 1_000, checkout.expiresAt.getTime() - now.getTime());
  if (left > 0 && isOpen(statusAt(checkout, now))) {
    const wait = {
      checkoutIntentId,
      organizationId: caller.organizationId,
      state: decisionOf(checkout.status, approval?.status ?? null),
    };
    await waitForChange(wait, left, request.signal);
    ({ checkout, approval, now } = await read());
  }
  const active = approval?.status === "pending" && approval.expiresAt > now && approval.continuationTokenId !== null;
  const mine = caller.kind === "key" && caller.serviceAccountId === checkout.ownerSubjectId;
  const open = isOpen(statusAt(checkout, now));
  return {
    intent: presentCheckout(checkout, now),
    ...(approval && { approval: presentApproval(approval, checkout.tokenDecimals, now) }),
    mandates: open ? presentChoices(await mandateChoices({ ...checkout, charged: chargedFor(checkout) })) : [],
    ...(active && mine && { continuationToken: continuationTokenOf(approval?.continuationTokenId ?? "") }),
  };
};
