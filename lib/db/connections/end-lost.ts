import { setTimeout as pause } from "node:timers/promises";
import { QUIET_MS, type ServerConnection } from "#lib/db/connection.ts";
import type { Pool } from "#lib/db/pool.ts";
import type { Sql } from "#lib/db/sql.ts";
import { terminate } from "#lib/db/connections/terminate.ts";
import { perProcess } from "#lib/process.ts";

const PAUSE_MS = 250;

type Waiting = { readonly pid: number; readonly blockers: readonly number[] | null };

/** Processes that ended, waited half a second for a message, or wait for a lock behind `blockers`; null without a lock. */
async function selectWaiting(sql: Sql, pids: readonly number[]): Promise<readonly Waiting[]> {
  const rows = await sql<{ pid: number; blockers: string | null }[]>`
    SELECT asked.pid, CASE WHEN a.wait_event_type = 'Lock' THEN array_to_string(pg_blocking_pids(a.pid), ',') END AS blockers
    FROM unnest(string_to_array(${pids.join()}, ',')::int[]) AS asked (pid) LEFT JOIN pg_stat_activity a ON a.pid = asked.pid
    WHERE a.pid IS NULL OR a.wait_event_type = 'Lock'
      OR (a.wait_event = 'ClientRead' AND a.state_change < clock_timestamp() - interval '500 milliseconds')`;
  return rows.map(({ pid, blockers }) => ({ pid, blockers: blockers?.split(",").map(Number) ?? null }));
}

/** A process that waits for a lost process's lock counts too: if its connection is lost, it would get and keep the lock. */
function lostAmong(waiting: readonly Waiting[]): ReadonlySet<number> {
  const lost = new Set(waiting.filter(({ blockers }) => blockers === null).map(({ pid }) => pid));
  let known = 0;
  // Repeat until no process is added, because a process can wait for one that waits itself.
  while (lost.size > known) {
    known = lost.size;
    for (const { pid, blockers } of waiting) if (blockers?.some((one) => lost.has(one))) lost.add(pid);
  }
  return lost;
}

const pidsOf = (connections: readonly ServerConnection[]): number[] =>
  connections.flatMap(({ backend }) => (backend ? [backend.pid] : []));

async function askOnce(sql: Sql, pools: readonly Pool[]): Promise<void> {
  const quiet = (): readonly ServerConnection[] => pools.flatMap((pool) => pool.quiet);
  const pids = pidsOf(quiet());
  if (pids.length === 0) return;
  const suspected = lostAmong(await selectWaiting(sql, pids));
  if (suspected.size === 0) return;
  // Ask again after a pause: if this process was busy, its statements may still be on their way to the server.
  await pause(PAUSE_MS, undefined, { ref: false });
  const waiting = await selectWaiting(sql, pidsOf(quiet()));
  const lostPids = lostAmong(waiting.filter(({ pid, blockers }) => blockers !== null || suspected.has(pid)));
  const lost = quiet().filter(({ backend }) => backend && lostPids.has(backend.pid));
  if (lost.length === 0) return;
  // End the connections first, so that their statements report a lost message and not a terminated server process.
  for (const connection of lost) connection.abandon("A message between the service and the database was lost.");
  const idle = pools.flatMap((pool) => pool.forgetIdleUnheardSince(performance.now() - QUIET_MS));
  await terminate(
    sql,
    [...lost, ...idle].flatMap(({ backend }) => backend ?? []),
  );
}

/** Ends connections on which a message was lost, long before the time limit: both sides would wait for each other. */
export async function endLost(sql: Sql, pools: readonly Pool[]): Promise<void> {
  const state = perProcess("db/connections/end-lost", () => ({ isAsking: false }));
  if (state.isAsking) return;
  state.isAsking = true;
  // If the connection of `sql` is lost too, the next call opens another one.
  await askOnce(sql, pools).catch(() => {});
  await pause(PAUSE_MS, undefined, { ref: false });
  state.isAsking = false;
}
