import type { Sql } from "#lib/db/sql.ts";
import { pool } from "#lib/db/client.ts";

/** The table belongs to better-auth, which also deletes old rows. A time far ahead was counted while the clock ran ahead. */
export async function takeAttempt(key: string, windowSeconds: number, on: Sql = pool()): Promise<number> {
  const [row] = await on<{ count: number }[]>`
    INSERT INTO rate_limit AS r (id, key, count, last_request)
    VALUES (${crypto.randomUUID()}, ${key}, 1, extract(epoch FROM clock_timestamp())::bigint * 1000)
    ON CONFLICT (key) DO UPDATE SET
      count = CASE WHEN abs(EXCLUDED.last_request - r.last_request) >= ${windowSeconds * 1000} THEN 1 ELSE r.count + 1 END,
      last_request = CASE WHEN abs(EXCLUDED.last_request - r.last_request) >= ${windowSeconds * 1000} THEN EXCLUDED.last_request ELSE r.last_request END
    RETURNING count`;
  return row?.count ?? 1;
}
