import { asc, sql, type SQL } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { workerRuns } from "#lib/installation/tables.ts";

export async function saveRun(worker: string, failed: boolean): Promise<void> {
  const endedAt = (at: SQL) => ({ ranAt: at, ...(failed ? { failedAt: at } : { succeededAt: at }) });
  await database()
    .insert(workerRuns)
    .values({ worker, ...endedAt(sql`clock_timestamp()`) })
    .onConflictDoUpdate({ target: workerRuns.worker, set: endedAt(sql`excluded.ran_at`) });
}

export const selectRuns = () => database().select().from(workerRuns).orderBy(asc(workerRuns.worker));
