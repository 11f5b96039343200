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
      const { released, locked } = await sweepMandate(mandateId, lockMandateIfFree);
      if (locked) busy.push(mandateId);
      swept += released;
    }
    place = due.at(-1) ?? "";
    if (due.length < MANDATES) break;
  }
  for (const mandateId of busy) swept += (await sweepMandate(mandateId, lockMandate)).released;
  await noteSwept(database(), covered);
  return swept;
}

/** `locked` is true if `lock` found the mandate locked, so that holds may be left. */
async function sweepMandate(mandateId: string, lock: typeof lockMandate): Promise<{ released: number; locked: boolean }> {
  let released = 0;
  for (;;) {
    const count = await sweepSome(mandateId, lock);
    released += count ?? 0;
    if (count === null || count < HOLDS) return { released, locked: count === null };
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
