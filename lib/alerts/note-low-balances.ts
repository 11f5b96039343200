import { insertAlerts } from "#lib/alerts/alert-store.ts";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { senders } from "#lib/onchain/senders.ts";
import { dayOf } from "#lib/time.ts";

/** At most one alert a UTC day for each account whose balance, as this process read it last, is low. */
export async function noteLowBalances(): Promise<void> {
  const low = senders().filter((sender) => sender.low);
  if (low.length === 0) return;
  await database().transaction(async (tx) => {
    const now = await clock(tx);
    const alert = {
      organizationId: null,
      window: `low balance ${dayOf(now)}`,
      threshold: 0,
      dueAt: now,
      status: "waiting" as const,
    };
    await insertAlerts(
      tx,
      low.map(({ chain, key, address }) => ({
        ...alert,
        subjectId: `${chain} ${key}`,
        facts: { kind: "lowBalance", chain, key, address } as const,
      })),
    );
  });
}
