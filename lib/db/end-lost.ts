import { setTimeout as pause } from "node:timers/promises";
import { QUIET_MS, type Connection } from "#lib/db/connection.ts";
import type { Pool } from "#lib/db/pool.ts";
import type { Sql } from "#lib/db/sql.ts";
import { perProcess } from "#lib/process.ts";

/** Statements may also wait for a lock, so the server is not asked more often than this. */
const PAUSE_MS = 250;

type Waiting = { readonly pid: number; readonly forLock: boolean };

/** The server processes that wait for a message from us or for a lock, and those that ended. */
const selectWaiting = (sql: Sql, pids: readonly number[]) => sql<Waiting[]>`
  SELECT asked.pid, a.wait_event_type IS NOT DISTINCT FROM 'Lock' AS "forLock"
  FROM unnest(string_to_array(${pids.join()}, ',')::int[]) AS asked (pid) LEFT JOIN pg_stat_activity a ON a.pid = asked.pid
  WHERE a.pid IS NULL OR a.wait_event_type = 'Lock'
    OR (a.wait_event = 'ClientRead' AND a.state_change < clock_timestamp() - interval '500 milliseconds')`;

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
  if (waiting.every(({ forLock }) => forLock)) return;
  // A process that waits for a lock may have lost its connection too. It would keep the lock when it gets it, so it is ended as well.
  const waitingPids = new Set(waiting.map(({ pid }) => pid));
  const lost = quiet.filter(({ isQuiet, backend }) => isQuiet && backend && waitingPids.has(backend.pid));
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
