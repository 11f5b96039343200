import { audit, clock, transact } from "#lib/audit/transact.ts";
import { expireRedeemed } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { reservationIdsOf } from "#lib/holds/ids.ts";
import { expireHolds, lockMandate, lockMandateIfFree } from "#lib/holds/hold-store.ts";
import { mandatesWithDueHolds, noteSwept, planSweep, type Span } from "#lib/holds/sweep-store.ts";
import { askOverdue, closeUnapproved, dueRecords } from "#lib/holds/record-store.ts";
import { perProcess } from "#lib/process.ts";
import { minutes } from "#lib/time.ts";

const MANDATES = 256;
const HOLDS = 1_000;
const RECORDS = 100;

/** When the last whole sweep of this process began, by performance.now(); a first sweep counts an hour as not swept. */
const lastSweep = () => perProcess("settlement/sweep", () => ({ at: performance.now() - minutes(60) }));

/**
 * Releases expired holds and all holds under revoked mandates, except holds whose payment was submitted. A mandate found locked
 * comes last and is waited for, because a busy mandate might never be found unlocked.
 */
export async function sweepHolds(): Promise<number> {
  const began = performance.now();
  const { stored, spans, covered } = await planSweep(database(), began - lastSweep().at);
  let [swept, known] = [0, stored];
  for (const span of spans) {
    swept += await sweepSpan(span);
    known = await noteSwept(database(), span.until ?? covered, known);
  }
  lastSweep().at = began;
  return swept;
}

async function sweepSpan(span: Span): Promise<number> {
  const busy: string[] = [];
  let swept = 0;
  let place = "";
  for (;;) {
    const due = await mandatesWithDueHolds(database(), span, place, MANDATES);
    for (const mandateId of due) {
      const { released, locked } = await sweepMandate(mandateId, span, lockMandateIfFree);
      if (locked) busy.push(mandateId);
      swept += released;
    }
    place = due.at(-1) ?? "";
    if (due.length < MANDATES) break;
  }
  for (const mandateId of busy) swept += (await sweepMandate(mandateId, span, lockMandate)).released;
  return swept;
}

/** `locked` is true if `lock` found the mandate locked, so that holds may be left. */
async function sweepMandate(
  mandateId: string,
  span: Span,
  lock: typeof lockMandate,
): Promise<{ released: number; locked: boolean }> {
  let released = 0;
  for (;;) {
    const count = await sweepSome(mandateId, span, lock);
    released += count ?? 0;
    if (count === null || count < HOLDS) return { released, locked: count === null };
  }
}

const sweepSome = (mandateId: string, span: Span, lock: typeof lockMandate): Promise<number | null> =>
  transact(async (tx) => {
    await enterGate(tx);
    const mandate = await lock(tx, mandateId);
    if (!mandate) return null;
    const expired = await expireHolds(tx, mandate, span, HOLDS);
    if (expired.length === 0) return 0;
    const { organizationId } = mandate;
    const event = { type: "reservation.expired", actorId: "service", organizationId, entityType: "mandate", entityId: mandateId };
    const now = await clock(tx);
    audit(tx, { ...event, metadata: { reservationIds: reservationIdsOf(expired) } }, now);
    for (const { checkoutIntentId, ownerSubjectId } of await expireRedeemed(tx, expired)) {
      const entity = { entityType: "checkout", entityId: checkoutIntentId, subjectId: ownerSubjectId };
      audit(tx, { type: "checkout.expired", actorId: "service", organizationId, ...entity, metadata: {} }, now);
    }
    return expired.length;
  });

/** Asks people about payments that nobody has closed in time. Nothing is freed. Returns their number. */
export async function askAboutOverdue(): Promise<number> {
  await closeUnapproved(database());
  const due = await dueRecords(database(), RECORDS);
  for (const { authorizationId, organizationId, mandateId } of due)
    await transact(async (tx) => {
      if (!(await askOverdue(tx, authorizationId))) return;
      const entity = { entityType: "authorization", entityId: authorizationId, metadata: { mandateId } };
      audit(tx, { type: "payment.overdue", actorId: "service", organizationId, ...entity }, await clock(tx));
    });
  return due.length;
}
