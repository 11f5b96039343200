import { audit, clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { submittedExecutions } from "#lib/holds/past-payment-store.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { presentMandate, type MandateRow } from "#lib/mandates/present-mandate.ts";
import { stepFrom, type Step } from "#lib/mandates/policy/status.ts";
import { liveBuckets, lockOwnMandate, setMandateStatus, type Scope } from "#lib/mandates/store.ts";
import { notFound } from "#lib/problem.ts";
import type { StoredMandateStatus } from "#lib/vocabulary.ts";

type StepRequest = {
  readonly by: Scope & { readonly subjectId: string };
  readonly requestId: string;
  readonly reason?: string | undefined;
  /** Runs under the mandate's lock, before its status changes. */
  readonly allow?: (row: MandateRow) => Promise<void>;
};

/** No event is written if the mandate already has the status. @throws Problem not_found, conflict */
export async function takeStep(
  tx: Tx,
  mandateId: string,
  step: Step,
  { by, requestId, reason, allow }: StepRequest,
): Promise<Mandate> {
  const row = await lockOwnMandate(tx, by, mandateId);
  if (row === null) throw notFound("mandate");
  const now = await clock(tx);
  const buckets = await liveBuckets(tx, [mandateId], now);
  const taken = stepFrom(row.status as StoredMandateStatus, step);
  if (taken === null) return presentMandate(row, buckets, decimalsOf(row), now);
  await allow?.(row);
  await setMandateStatus(tx, mandateId, taken.to, now);
  const submitted = takesAway(step) ? await submittedExecutions(tx, mandateId) : [];
  const event = { type: taken.event, actorId: by.subjectId, organizationId: by.organizationId };
  const why = { ...(reason !== undefined && { reason }), ...(takesAway(step) && { submittedExecutions: submitted }) };
  audit(tx, { ...event, entityType: "mandate", entityId: mandateId, metadata: { requestId, version: row.version, ...why } }, now);
  return presentMandate({ ...row, status: taken.to, updatedAt: now }, buckets, decimalsOf(row), now);
}

/** Payments that were already submitted continue, so the audit event of these steps lists up to 200 of them. */
const takesAway = (step: Step): boolean => step === "suspend" || step === "revoke";
