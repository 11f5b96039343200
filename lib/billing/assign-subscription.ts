import { audit, clock } from "#lib/audit/transact.ts";
import * as contract from "#lib/billing/contract.ts";
import { presentSubscription } from "#lib/billing/present.ts";
import { knownOrganizations, saveSubscription } from "#lib/billing/store.ts";
import { reasonIn } from "#lib/billing/reason-in.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { newId } from "#lib/ids.ts";
import { invalidField, notFound } from "#lib/problem.ts";

/** The same day of the next month in UTC, or the last day if that month is shorter. */
function monthAfter(start: Date): Date {
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + 1);
  if (end.getUTCDate() !== start.getUTCDate()) end.setUTCDate(0);
  return end;
}

export const assignSubscription: Handler<typeof contract.assignSubscription> = ({ body }, { caller, idempotency }) =>
  once(contract.assignSubscription, idempotency, async (tx) => {
    await enterGate(tx);
    const now = await clock(tx);
    await requireRight(tx, caller, "platform.subscriptions.manage", now);
    const { organizationId, planId, tier, status, metadata } = body;
    if (!(await knownOrganizations(tx, [organizationId])).has(organizationId)) throw notFound("organization");
    const start = body.currentPeriodStart === undefined ? now : new Date(body.currentPeriodStart);
    const end = body.currentPeriodEnd === undefined ? monthAfter(start) : new Date(body.currentPeriodEnd);
    if (end <= start) throw invalidField("/currentPeriodEnd", "The period ends before it begins.");
    const subscription = await saveSubscription(tx, {
      subscriptionId: newId("subscription"),
      organizationId,
      planId: planId ?? tier,
      tier,
      status,
      currentPeriodStart: start,
      currentPeriodEnd: end,
      metadata: metadata ?? null,
      createdAt: now,
      updatedAt: now,
    });
    const { subscriptionId } = subscription;
    const event = { type: "subscription.assigned", actorId: caller.subjectId, organizationId, entityType: "subscription" };
    audit(
      tx,
      { ...event, entityId: subscriptionId, metadata: { planId: subscription.planId, tier, status, ...reasonIn(metadata) } },
      now,
    );
    return presentSubscription(subscription);
  });
