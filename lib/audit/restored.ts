import { endAlarm, entityOf, newestCheckpointBy, selectAlarms, SIGNED } from "#lib/audit/checkpoint-store.ts";
import { furthestKeptHead, startNewFile } from "#lib/audit/heads/heads-file.ts";
import { signingKeys } from "#lib/audit/signing-key.ts";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";

const ALARMS_MAX = 100_000;

/** An audit log that does not continue from what an alarm or AUDIT_HEADS_FILE knows of it. */
export type OlderLog = {
  readonly chain: string;
  /** The number of its last event in the database. */
  readonly stored: number;
  /** The number of the last signed event that is known. */
  readonly signed: number;
  readonly detail: string;
};

const newestOwn = () =>
  newestCheckpointBy(
    SIGNED,
    signingKeys().map(({ keyId }) => keyId),
  );

/**
 * The logs that are older than what is known of them, as after a restored backup.
 *
 * @throws if a log is wrong even if nothing but the database is asked, because then no backup explains it
 */
export async function olderLogs(): Promise<readonly OlderLog[]> {
  const alarms = new Map((await selectAlarms(ALARMS_MAX)).map((alarm) => [alarm.chain, alarm]));
  const kept = (await furthestKeptHead()).head?.sequence ?? 0;
  const older: OlderLog[] = [];
  for (const chain of new Set([...alarms.keys(), SIGNED])) {
    const { firstBad } = await verifyChain(chain);
    const alarm = alarms.get(chain);
    const detail = firstBad?.detail ?? alarm?.detail;
    if (detail === undefined) continue;
    const alone = await verifyChain(chain, { databaseAlone: true });
    const unsigned = chain === SIGNED && !(await newestOwn()) ? "No key of AUDIT_SIGNING_KEY has signed it." : undefined;
    const damage = alone.firstBad?.detail ?? unsigned;
    if (damage !== undefined)
      throw new Error(`The audit log ${chain} was changed in the database, which no backup explains: ${damage}`);
    const signed = Math.max(alarm?.signedSequence ?? 0, chain === SIGNED ? kept : 0);
    older.push({ chain, stored: alone.count, signed, detail });
  }
  return older;
}

/** From now on these logs continue from what the database has. The log of the platform says so. */
export async function acceptOlder(logs: readonly OlderLog[]): Promise<void> {
  await transact(async (tx) => {
    const now = await clock(tx);
    for (const { chain, ...metadata } of logs) {
      await endAlarm(chain, tx);
      const event = { type: "auditChain.restored", actorId: "service", organizationId: null };
      audit(tx, { ...event, entityType: "auditChain", entityId: entityOf(chain), metadata }, now);
    }
  });
  // Last, so that a crash before it leaves the logs to be accepted again, and never accepts one without its event.
  const head = await newestOwn();
  if (head && logs.some(({ chain }) => chain === SIGNED)) await startNewFile(head);
}
