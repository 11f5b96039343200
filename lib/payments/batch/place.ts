import { newId } from "#lib/ids.ts";
import type { Decided, PurchaseRecord } from "#lib/payments/batch/purchase.ts";
import type { Placement } from "#lib/payments/queue-item.ts";
import type { Outcome } from "#lib/vocabulary.ts";

const stateOf = {
  allow: "paymentCredentialRequired",
  requireApproval: "approvalRequired",
  deny: "denied",
} as const satisfies Record<Outcome, string>;

export function place({ item, decided, now }: Decided, { orderId, lease, attempt, offer, draft }: Placement): PurchaseRecord {
  const { authorizationId, checkoutIntentId } = decided;
  const { outcome } = decided.decision;
  const { mandateId, organizationId, requestId } = item;
  const { subjectId } = item.asker;
  const event = {
    auditEventId: newId("audit"),
    type: "order.placed",
    actorId: subjectId,
    organizationId,
    subjectId,
    entityType: "order",
    entityId: orderId,
    metadata: { requestId, mandateId, authorizationId, storefrontUrl: draft.storefrontUrl, outcome },
    createdAt: now,
  };
  const order = { orderId, lease, status: stateOf[outcome], attempt, offer, authorizationId, checkoutIntentId };
  return { status: 200, body: "", events: [event], decided: order };
}
