import { asc, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { workerRuns } from "#lib/installation/tables.ts";

export async function saveRun(worker: string, failed: boolean): Promise<void> {
  const ranAt = sql`clock_timestamp()`;
  const ended = failed ? { failedAt: ranAt } : { succeededAt: ranAt };
  await database()
    .insert(workerRuns)
    .values({ worker, ranAt, ...ended })
    .onConflictDoUpdate({ target: workerRuns.worker, set: { ranAt, ...ended } });
}

export const selectRuns = () => database().select().from(workerRuns).orderBy(asc(workerRuns.worker));
