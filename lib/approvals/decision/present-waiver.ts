import type { Waiver } from "#lib/approvals/decision/waiver-schema.ts";
import type { WaiverRow } from "#lib/approvals/decision/waiver-store.ts";
import { toWire } from "#lib/time.ts";

export const presentWaiver = (row: WaiverRow): Waiver => ({
  waiverId: row.waiverId,
  mandateId: row.mandateId,
  policyVersion: row.policyVersion,
  deniedAuthorizationId: row.authorizationId,
  agentId: row.subjectId,
  basketHash: row.basketHash,
  payTo: row.payTo,
  grantedBySubjectId: row.grantedBySubjectId,
  createdAt: toWire(row.createdAt),
  expiresAt: toWire(row.expiresAt),
  ...(row.usedByAuthorizationId !== null && { usedByAuthorizationId: row.usedByAuthorizationId }),
});
