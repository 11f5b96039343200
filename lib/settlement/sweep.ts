import { audit, clock, transact } from "#lib/audit/transact.ts";
import { expireRedeemed } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { reservationIdsOf } from "#lib/holds/ids.ts";
import {
  coveredBySweep,
  expireHolds,
  lockMandate,
  lockMandateIfFree,
  mandatesWithDueHolds,
  noteSwept,
  sweptUntil,
} from "#lib/holds/hold-store.ts";

const MANDATES = 256;
const HOLDS = 1_000;

/**
 * Releases expired holds and all holds under revoked mandates, except holds whose payment was submitted. A mandate found locked
 * comes last and is waited for, because a busy mandate might never be found unlocked.
 */
export async function sweepHolds(): Promise<number> {
  const busy: string[] = [];
  let swept = 0;
  let place = "";
  const [since, covered] = await Promise.all([sweptUntil(database()), coveredBySweep(database())]);
  for (;;) {
    const due = await mandatesWithDueHolds(database(), { since, place, limit: MANDATES });
    for (const mandateId of due) {
      const count = await sweepMandate(mandateId, lockMandateIfFree);
      if (count === null) busy.push(mandateId);
      else swept += count;
    }
    place = due.at(-1) ?? "";
    if (due.length < MANDATES) break;
  }
  for (const mandateId of busy) swept += (await sweepMandate(mandateId, lockMandate)) ?? 0;
  await noteSwept(database(), covered);
  return swept;
}

/** Null if `lock` found the mandate locked before a hold was released. */
async function sweepMandate(mandateId: string, lock: typeof lockMandate): Promise<number | null> {
  let swept = 0;
  for (;;) {
    const count = await sweepSome(mandateId, lock);
    if (count === null) return swept > 0 ? swept : null;
    swept += count;
    if (count < HOLDS) return swept;
  }
}

const sweepSome = (mandateId: string, lock: typeof lockMandate): Promise<number | null> =>
  transact(async (tx) => {
    await enterGate(tx);
    const mandate = await lock(tx, mandateId);
    if (!mandate) return null;
    const expired = await expireHolds(tx, mandate, HOLDS);
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
