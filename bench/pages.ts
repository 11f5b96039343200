import postgres from "postgres";
import { start } from "./server.ts";

export type PageLoad = { readonly path: string; readonly payments: number; readonly firstMs: number; readonly medianMs: number };

const SETTLED = 10_000;
const REPEATS = 5;

/** Marks the newest payments as settled: inserts an execution and a capture for each. */
async function settle(url: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`
      WITH newest AS (SELECT a.*, r.amount AS captured FROM authorizations a JOIN reservations r USING (authorization_id)
        ORDER BY a.authorization_id DESC LIMIT ${SETTLED}),
      attempts AS (INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id,
          settlement_mode, settlement_status, settlement_reference, resolved_at)
        SELECT 'exe' || substr(authorization_id, 4), authorization_id, organization_id, environment, mandate_id, subject_id,
          settlement_mode, 'settled', 'bench' || authorization_id, created_at FROM newest)
      INSERT INTO resolutions (ledger_id, organization_id, mandate_id, authorization_id, kind, amount)
        SELECT 'led' || substr(authorization_id, 4), organization_id, mandate_id, authorization_id, 'capture', captured
        FROM newest`;
    await sql`ANALYZE authorizations, executions, reservations, resolutions`;
    const [row] = await sql`SELECT count(*)::int AS count FROM authorizations`;
    return row?.["count"] as number;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function load(url: string, path: string, headers: Record<string, string>): Promise<number> {
  const begun = performance.now();
  const reply = await fetch(url + path, { headers, redirect: "error" });
  const page = await reply.text();
  if (reply.status !== 200 || !page.includes("</html>")) throw new Error(`${path} answered ${reply.status}.`);
  return performance.now() - begun;
}

/**
 * The first load of dashboard pages, and the median of five more, each until the end of its HTML. The server has served the
 * sign-in page before, because every dashboard visit starts there.
 */
export async function loadPages(
  databaseUrl: string,
  environment: Readonly<Record<string, string>>,
  headers: Record<string, string>,
): Promise<PageLoad[]> {
  const payments = await settle(databaseUrl);
  const server = await start(["server.ts"], environment, "/api/v1/health/live");
  try {
    await load(server.url, "/sign-in", {});
    const loads: PageLoad[] = [];
    for (const path of ["/payments", "/payments?settlement=settled", "/home"]) {
      const firstMs = await load(server.url, path, headers);
      const more: number[] = [];
      for (let again = 0; again < REPEATS; again++) more.push(await load(server.url, path, headers));
      loads.push({ path, payments, firstMs, medianMs: more.toSorted((a, b) => a - b)[Math.floor(REPEATS / 2)] ?? 0 });
    }
    return loads;
  } finally {
    await server.stop();
  }
}
