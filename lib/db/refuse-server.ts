import { ServerConnection } from "#lib/db/connection.ts";
import { sqlState } from "#lib/db/failure.ts";

const ASKED_MS = 12_345;
const OLDEST_VERSION = 15;

const refusal = (why: string): Error =>
  new Error(
    `DATABASE_URL leads to a connection pooler that ${why}. The service keeps its own connections and needs settings that stay with each. ` +
      "Set DATABASE_URL to the address of PostgreSQL itself. A process uses DATABASE_POOL connections and six more.",
  );

/** `version` is PostgreSQL's `server_version`, such as "14.11 (Debian 14.11-1)". */
export function refuseOldVersion(version: string): void {
  if (Number.parseInt(version, 10) < OLDEST_VERSION)
    throw new Error(`DATABASE_URL leads to PostgreSQL ${version}. Countersign needs PostgreSQL ${OLDEST_VERSION} or newer.`);
}

/** A pooler such as PgBouncer can drop start-up parameters, and the timeouts would then silently not apply. */
export async function refuseServer(url: string): Promise<void> {
  const settings = { application_name: "countersign", lock_timeout: ASKED_MS };
  const connection = await ServerConnection.open({ url, settings, openMs: 10_000, silenceMs: 10_000 }).catch((error: unknown) => {
    throw sqlState(error) === "08P01" ? refusal("refuses the start-up parameter lock_timeout") : error;
  });
  try {
    const held = `
      SELECT setting = '${ASKED_MS}' AS held, current_setting('server_version') AS version FROM pg_settings WHERE name = 'lock_timeout'`;
    const [row] = await connection.sql.unsafe<{ held: boolean; version: string }[]>(held);
    if (row?.held !== true) throw refusal("drops the start-up parameter lock_timeout");
    refuseOldVersion(row.version);
  } finally {
    connection.close();
  }
}
