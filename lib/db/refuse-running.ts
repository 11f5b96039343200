import { ServerConnection } from "#lib/db/connection.ts";

/** Refuses while processes of the service are connected to the database. */
export async function refuseRunning(url: string): Promise<void> {
  const settings = { application_name: "countersign-command" };
  const connection = await ServerConnection.open({ url, settings, openMs: 10_000, silenceMs: 10_000 });
  try {
    const [row] = await connection.sql<{ connected: number }[]>`
      SELECT count(*)::int AS connected FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'countersign'`;
    if (row && row.connected > 0)
      throw new Error(`Stop all processes of the service first. They have ${row.connected} connections to the database.`);
  } finally {
    connection.close();
  }
}
