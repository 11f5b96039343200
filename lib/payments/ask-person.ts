import type { Row } from "postgres";
import { assuranceOf } from "#lib/commerce/locked-checkout.ts";
import { openCheckout } from "#lib/commerce/open-checkout.ts";
import type { NewCheckout } from "#lib/commerce/checkout-rows.ts";
import type { Decision } from "#lib/mandates/facts.ts";
import { atomicOf, subtract, type Atomic } from "#lib/money.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/compare-intent.ts";
import type { PaymentIntent } from "#lib/payments/intent.ts";
import { subjectOf, type Item } from "#lib/payments/item.ts";
import type { Budget, ListFacts } from "#lib/payments/list-facts.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** What a person is asked, and in which checkout. One open question per approval key. */
export type Question = {
  readonly approvalKey: string;
  readonly checkoutIntentId: string | null;
  /** Null where the same question is open already. */
  readonly checkout: Omit<NewCheckout, "authorizationId"> | null;
};

type Payment = {
  readonly item: Item;
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly amount: Atomic;
  readonly digits: number;
  readonly intent: PaymentIntent;
  readonly tokenAddress: string;
  readonly expiresAt: Date;
};

/** Opens the checkout in which a person is asked, or finds the one that is open. */
export function askPerson({ item, seller, resource, intent, ...payment }: Payment, budget: Budget, now: Date): Question {
  const { amount } = payment;
  const domain = seller?.domain ?? intent.seller.domain ?? "";
  const draft = item.also?.checkout ?? null;
  const checkout = openCheckout({
    organizationId: item.organizationId,
    environment: item.environment,
    ownerSubjectId: subjectOf(item),
    mandateId: item.mandateId,
    sellerId: seller?.sellerId ?? null,
    resourceId: resource?.resourceId ?? null,
    domain,
    amount,
    tokenAddress: payment.tokenAddress,
    tokenDecimals: payment.digits,
    intent,
    draft,
    expiresAt: draft?.quoteExpiresAt && draft.quoteExpiresAt < payment.expiresAt ? draft.quoteExpiresAt : payment.expiresAt,
    now,
  });
  const payee = `${seller?.sellerId ?? domain} ${resource?.resourceId ?? intent.payTo}`;
  const approvalKey = draft ? `basket ${checkout.basketHash} ${amount}` : `${payee} ${amount}`;
  const open = budget.openApprovals.get(approvalKey);
  if (open !== undefined) return { approvalKey, checkoutIntentId: open, checkout: null };
  return { approvalKey, checkoutIntentId: checkout.checkoutIntentId, checkout };
}

/** The reason that asks for a person says where. */
export function withLink(decision: Decision, href: string | null): Decision {
  if (href === null) return decision;
  return {
    ...decision,
    reasons: decision.reasons.map((reason) => (reason.effect === "approval" ? { ...reason, href } : reason)),
  };
}

/** Whether the agent that will pay is live; an asker that pays itself was judged before. */
export const agentLive = ({ also }: Item, facts: ListFacts): boolean =>
  !also?.agentId || facts.checkouts.get(also.checkoutIntentId ?? "")?.["agent_live"] !== false;

/** How sure it is that a person says yes. Where none does, nothing goes beyond the mandate. */
export function assuranceReached({ also }: Item, facts: ListFacts): AssuranceLevel {
  const locked = also?.approvedByPerson ? facts.checkouts.get(also.checkoutIntentId ?? "") : undefined;
  return locked ? assuranceOf(locked) : "softwareApproved";
}

/** The budget as it would be without the hold that is taken over: it must not count twice, nor start a cooldown of its own. */
export function withoutOwnHold(budget: Budget, locked: Row): Budget {
  if (locked["held_status"] !== "held") return budget;
  const amount = atomicOf(locked["held_amount"] as string);
  const own = new Set((locked["held_buckets"] as [string, number][]).map(([key, start]) => `${key} ${start}`));
  const buckets = new Map(
    [...budget.buckets].map(([key, list]) => [
      key,
      list.map((bucket) =>
        own.has(`${key} ${bucket.start.getTime()}`)
          ? { ...bucket, reserved: subtract(bucket.reserved, amount), payments: bucket.payments - 1 }
          : bucket,
      ),
    ]),
  );
  const { spent, reserved } = budget.usage;
  return { ...budget, buckets, usage: { spent, reserved: subtract(reserved, amount), lastHeldAt: null, buckets } };
}
