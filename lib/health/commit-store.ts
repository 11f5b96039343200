import { randomUUID } from "node:crypto";
import { commitPool, watchPool } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { processCommits } from "#lib/health/tables.ts";
import { perProcess } from "#lib/process.ts";

const processId = (): string => perProcess("health/commit-store", randomUUID);

/**
 * Commits a row of this process. A full disk often has room for one more row, so the server must first write a temporary file, whose
 * size is above the least work_mem.
 */
export async function commitOwnRow(): Promise<void> {
  await commitPool().sql`SELECT count(*) FROM generate_series(1, 5000)`;
  await commitPool().sql`
    INSERT INTO process_commits (process_id, committed_at) VALUES (${processId()}, clock_timestamp())
    ON CONFLICT (process_id) DO UPDATE SET committed_at = EXCLUDED.committed_at`;
}

/** Whether a COMMIT of this service waits for a standby. */
export async function waitsForStandby(): Promise<boolean> {
  const [row] = await watchPool().sql<{ waits: boolean }[]>`
    SELECT EXISTS (SELECT FROM pg_stat_activity
      WHERE wait_event = 'SyncRep' AND datname = current_database() AND usename = current_user) AS waits`;
  return row?.waits === true;
}

export const deleteOldCommits = (): Promise<number> => deleteOld(processCommits.committedAt, 1);
