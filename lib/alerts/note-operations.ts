import { insertAlerts } from "#lib/alerts/alert-store.ts";
import type { AlertFacts } from "#lib/alerts/facts.ts";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { senders } from "#lib/onchain/senders.ts";
import { dayOf } from "#lib/time.ts";

/** For administrators: at most one alert a UTC day for each subject. */
async function noteToday(
  what: string,
  found: readonly { readonly subjectId: string; readonly facts: AlertFacts }[],
): Promise<void> {
  if (found.length === 0) return;
  await database().transaction(async (tx) => {
    const now = await clock(tx);
    const alert = { organizationId: null, window: `${what} ${dayOf(now)}`, threshold: 0, dueAt: now, status: "waiting" as const };
    await insertAlerts(
      tx,
      found.map((one) => ({ ...alert, ...one })),
    );
  });
}

/** The balances are those that this process read last. */
export const noteLowBalances = (): Promise<void> =>
  noteToday(
    "low balance",
    senders()
      .filter(({ low }) => low)
      .map(({ chain, key, address }) => ({
        subjectId: `${chain} ${key}`,
        facts: { kind: "lowBalance", chain, key, address },
      })),
  );

export const noteFewStandbys = (names: string, inSync: number): Promise<void> =>
  noteToday("few standbys", [{ subjectId: "database", facts: { kind: "fewStandbys", names, inSync } }]);
