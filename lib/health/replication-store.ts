import { watchPool } from "#lib/db/client.ts";

/** Fails on servers that do not tell their timeline. */
export async function selectRole() {
  const [row] = await watchPool().sql<{ standby: boolean; timeline: string | null; names: string; visible: boolean }[]>`
    SELECT pg_is_in_recovery() AS standby, current_setting('synchronous_standby_names') AS names,
      CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline,
      pg_has_role('pg_read_all_stats', 'USAGE') AS visible`;
  return row!;
}

export type Standby = {
  readonly name: string;
  readonly address: string | null;
  readonly state: string;
  /** sync and quorum: commits wait for it. potential: they would if another one were gone. async: they do not. */
  readonly syncState: string;
  /** How much of the log of the primary it has not written to its disk yet. */
  readonly bytesBehind: number;
};

/** Only for a primary. Without pg_read_all_stats all columns that matter are null. */
export async function selectStandbys(): Promise<readonly Standby[]> {
  const rows = await watchPool().sql<(Omit<Standby, "bytesBehind"> & { behind: string | null })[]>`
    SELECT application_name AS name, host(client_addr) AS address, state, sync_state AS "syncState",
      greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn), 0)::text AS behind
    FROM pg_stat_replication ORDER BY application_name, client_addr, pid`;
  return rows.map(({ behind, ...row }) => ({ ...row, bytesBehind: Number(behind ?? 0) }));
}
