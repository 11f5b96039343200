import type { AuditEvent } from "#lib/audit/chain.ts";
import { policyDecisionIdOf, reservationIdOf } from "#lib/holds/ids.ts";
import { idUnder } from "#lib/ids.ts";
import { formatAmount, UNIT_DECIMALS } from "#lib/money.ts";
import type { NewAuthorization } from "#lib/payments/batch/decide.ts";
import { payingSubjectOf } from "#lib/payments/queue-item.ts";

const auditType = { allow: "payment.authorized", deny: "payment.denied", requireApproval: "payment.approvalRequired" } as const;

/** The audit event of an authorization. It must equal the event that the view audit_events builds from the stored row. */
export const eventOf = ({ item, decision, ...row }: NewAuthorization): AuditEvent => ({
  auditEventId: idUnder("audit", row.authorizationId),
  type: auditType[decision.outcome],
  actorId: item.asker.subjectId,
  organizationId: item.organizationId,
  subjectId: payingSubjectOf(item),
  entityType: "authorization",
  entityId: row.authorizationId,
  // Keys are in alphabetical order, so that the event is hashed without sorting them (see eventText).
  metadata: {
    amount: row.intent.amount,
    asset: row.intent.asset,
    chain: row.intent.chain,
    ...(row.checkoutIntentId !== null && { checkoutIntentId: row.checkoutIntentId }),
    ...(decision.denialCode !== undefined && { denialCode: decision.denialCode }),
    intentId: item.intent.intentId,
    mandateId: item.mandateId,
    policyDecisionId: policyDecisionIdOf(row),
    policyVersion: row.policyVersion,
    requestId: item.requestId,
    ...(row.hold && { reservationId: reservationIdOf(row) }),
    ...(row.seller && { sellerId: row.seller.sellerId }),
    ...(row.counted && { unitAmount: formatAmount(row.counted.amount, UNIT_DECIMALS), unitRate: row.counted.rate }),
  },
  createdAt: row.createdAt,
});
