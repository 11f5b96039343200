import { chromium } from "@playwright/test";
import postgres from "postgres";
import { weigh, type PageWeight } from "#test/page-weight.ts";
import { findChromium } from "../scripts/chromium.ts";
import { start } from "./server.ts";

export type PageLoad = PageWeight & {
  readonly path: string;
  readonly payments: number;
  readonly firstMs: number;
  readonly medianMs: number;
};

const SETTLED = 10_000;
const REPEATS = 5;

/**
 * Marks the newest payments as settled by inserting an execution and a capture for each. Returns the number of all
 * authorizations.
 */
async function settle(url: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`
      WITH newest AS (SELECT a.*, a.amount + a.buyer_share AS captured FROM authorizations a WHERE a.held
        ORDER BY a.authorization_id DESC LIMIT ${SETTLED}),
      attempts AS (INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id,
          settlement_mode, settlement_status, settlement_reference, resolved_at)
        SELECT 'exe' || substr(authorization_id, 4), authorization_id, organization_id, environment, mandate_id, subject_id,
          settlement_mode, 'settled', 'bench' || authorization_id, created_at FROM newest)
      INSERT INTO resolutions (ledger_id, organization_id, mandate_id, authorization_id, kind, amount)
        SELECT 'led' || substr(authorization_id, 4), organization_id, mandate_id, authorization_id, 'capture', captured
        FROM newest`;
    await sql`ANALYZE authorizations, executions, changed_reservations, resolutions`;
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

const screens = [
  { width: 390, height: 844 },
  { width: 1_280, height: 800 },
] as const;

/**
 * Returns the size of the scripts and the layout shift of each page. Each page is opened on a phone and on a wide screen, and
 * the larger value counts.
 */
export async function weighAll(url: string, paths: readonly string[], cookie: string): Promise<readonly PageWeight[]> {
  const executablePath = await findChromium();
  const browser = await chromium.launch({ ...(executablePath !== null && { executablePath }), args: ["--no-sandbox"] });
  try {
    const weights: PageWeight[] = paths.map(() => ({ scriptKb: 0, shift: 0 }));
    for (const viewport of screens) {
      const context = await browser.newContext({ viewport });
      const [name = "", ...value] = cookie.split("=");
      if (name !== "") await context.addCookies([{ name, value: value.join("="), url }]);
      for (const [at, path] of paths.entries()) {
        const page = await context.newPage();
        const { scriptKb, shift } = await weigh(page, url + path);
        weights[at] = { scriptKb: Math.max(scriptKb, weights[at]!.scriptKb), shift: Math.max(shift, weights[at]!.shift) };
        await page.close();
      }
      await context.close();
    }
    return weights;
  } finally {
    await browser.close();
  }
}

const paths = ["/payments", "/payments?settlement=settled", "/home", "/mandates", "/approvals"] as const;

/**
 * Measures the first load of dashboard pages, and the median of five more loads, each until the end of the HTML; then the size
 * of their scripts and their layout shift. The server has served the sign-in page before, because people come to the dashboard
 * from there.
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
    const times: Omit<PageLoad, keyof PageWeight>[] = [];
    for (const path of paths) {
      const firstMs = await load(server.url, path, headers);
      const more: number[] = [];
      for (let again = 0; again < REPEATS; again++) more.push(await load(server.url, path, headers));
      times.push({ path, payments, firstMs, medianMs: more.toSorted((a, b) => a - b)[Math.floor(REPEATS / 2)] ?? 0 });
    }
    const weights = await weighAll(server.url, paths, headers["cookie"] ?? "");
    return times.map((load, at) => ({ ...load, ...weights[at]! }));
  } finally {
    await server.stop();
  }
}
