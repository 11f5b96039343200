import { setTimeout as pause } from "node:timers/promises";
import { QUIET_MS, type Connection } from "#lib/db/connection.ts";
import type { Pool } from "#lib/db/pool.ts";
import type { Sql } from "#lib/db/sql.ts";
import { perProcess } from "#lib/process.ts";

/** Statements may also wait for a lock, so the server is not asked more often than this. */
const PAUSE_MS = 250;

/** The server processes that ended, or that wait for a message from us. */
async function selectWaiting(sql: Sql, pids: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await sql<{ pid: number }[]>`
    SELECT asked.pid
    FROM unnest(string_to_array(${pids.join()}, ',')::int[]) AS asked (pid) LEFT JOIN pg_stat_activity a ON a.pid = asked.pid
    WHERE a.pid IS NULL
      OR (a.wait_event = 'ClientRead' AND a.state_change < clock_timestamp() - interval '500 milliseconds')`;
  return new Set(rows.map(({ pid }) => pid));
}

/** Frees the locks of processes whose connections are lost. */
const terminate = (sql: Sql, pids: readonly number[]) => sql`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ANY (string_to_array(${pids.join()}, ',')::int[]) AND usename = current_user
    AND application_name = current_setting('application_name')`;

const pidsOf = (connections: readonly Connection[]): number[] =>
  connections.flatMap(({ backend }) => (backend ? [backend.pid] : []));

async function askOnce(sql: Sql, pools: readonly Pool[]): Promise<void> {
  const quiet = pools.flatMap((pool) => pool.quiet);
  const pids = pidsOf(quiet);
  if (pids.length === 0) return;
  const waiting = await selectWaiting(sql, pids);
  const lost = quiet.filter(({ isQuiet, backend }) => isQuiet && backend && waiting.has(backend.pid));
  if (lost.length === 0) return;
  // The connections end first: a terminated process could report that a COMMIT failed whose answer was lost.
  for (const connection of lost) connection.abandon("A message between the service and the database was lost.");
  const idle = pools.flatMap((pool) => pool.forgetIdleUnheardSince(performance.now() - QUIET_MS));
  await terminate(sql, pidsOf([...lost, ...idle]));
}

/**
 * Ends connections on which both sides wait for each other: a statement waits for its answer, and its server process waits for a
 * statement, because a message between them was lost. This is known after about a second, long before the silence limit.
 */
export async function endLost(sql: Sql, pools: readonly Pool[]): Promise<void> {
  const state = perProcess("lostConnections", () => ({ isAsking: false }));
  if (state.isAsking) return;
  state.isAsking = true;
  // If this connection is lost too, the next call opens a new one.
  await askOnce(sql, pools).catch(() => {});
  await pause(PAUSE_MS, undefined, { ref: false });
  state.isAsking = false;
}
