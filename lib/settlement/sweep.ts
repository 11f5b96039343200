import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/db/gate.ts";
import { expireHolds, lockMandateIfFree, mandatesWithDueHolds } from "#lib/payments/hold-store.ts";

const MANDATES = 256;
const HOLDS = 1_000;

/**
 * Lets go of holds that nobody can use any more, mandate by mandate in id order. A mandate that somebody works on is left
 * for the next time, and a hold whose credential went out is never touched. Answers how many holds were let go.
 */
export async function sweepHolds(): Promise<number> {
  let swept = 0;
  for (const mandateId of await mandatesWithDueHolds(database(), MANDATES)) {
    for (let count = HOLDS; count === HOLDS; swept += count) count = await sweepMandate(mandateId);
  }
  return swept;
}

const sweepMandate = (mandateId: string): Promise<number> =>
  transact(async (tx) => {
    await enterGate(tx);
    const mandate = await lockMandateIfFree(tx, mandateId);
    if (!mandate) return 0;
    const { reservationIds } = await expireHolds(tx, mandate, HOLDS);
    if (reservationIds.length === 0) return 0;
    const { organizationId } = mandate;
    const event = { type: "reservation.expired", actorId: "service", organizationId, entityType: "mandate", entityId: mandateId };
    audit(tx, { ...event, metadata: { reservationIds } }, await clock(tx));
    return reservationIds.length;
  });
