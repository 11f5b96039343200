import type { Backend } from "#lib/db/connection.ts";
import type { Sql } from "#lib/db/sql.ts";

/** A later process, or another program's after a failover, may have the same pid, so more than the pid must match. */
export const terminate = (sql: Sql, backends: readonly Backend[]) => sql`
  SELECT pg_terminate_backend(a.pid)
  FROM unnest(string_to_array(${backends.map(({ pid }) => pid).join()}, ',')::int[],
    string_to_array(${backends.map(({ since }) => performance.now() - since).join()}, ',')::float8[]) AS lost (pid, age)
  JOIN pg_stat_activity a ON a.pid = lost.pid AND a.backend_start <= clock_timestamp() - lost.age * interval '1 millisecond'
  WHERE a.usename = current_user AND a.application_name = current_setting('application_name')`;
