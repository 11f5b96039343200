import { type ChildProcess, fork } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { startEmbedded } from "#lib/db/embedded.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { load } from "./load.ts";
import { authorizeBody, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

/**
 * Payments that are authorized per second: `alone` without streams, and `beside` while simulated browsers of the same
 * organization receive every change. Both are medians of the rounds; `messages` and `errors` are sums.
 */
export type Streams = {
  readonly streams: number;
  readonly alone: number;
  readonly beside: number;
  /** The median of the ratios of the rounds. */
  readonly ratio: number;
  readonly messages: number;
  readonly errors: number;
};

const BROWSERS = 1_000;
/** PER_SESSION in change-streams.ts: the maximum number of streams of one session. A further stream ends the oldest one. */
const PER_SESSION = 4;
const CONNECTIONS = 64;
/** This is long enough for V8 to compile the code, so that the first round is not the slowest. */
const WARM_SECONDS = 8;
/** How long the service may take to notice that a thousand browsers have gone. */
const SETTLED_MS = 4_000;
/** The number of streams that are opened together; the next ones follow after 100 milliseconds. */
const PART = 50;

/** Inserts sessions of the newest buyer, as sign-ins would, and returns their cookies. */
async function newSessions(databaseUrl: string, secret: string, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, () => randomBytes(24).toString("base64url"));
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql`
    INSERT INTO session (id, user_id, token, expires_at, active_organization_id)
    SELECT 'ses_' || t.token, s.user_id, t.token, s.expires_at, s.active_organization_id
    FROM unnest(${tokens}::text[]) AS t (token),
      (SELECT s.* FROM session s JOIN organization o ON o.id = s.active_organization_id
        WHERE 'buyer' = ANY(o.product_roles) ORDER BY s.created_at DESC LIMIT 1) AS s`;
  await sql.end({ timeout: 5 });
  const signed = (token: string) => `${token}.${createHmac("sha256", secret).update(token).digest("base64")}`;
  return tokens.map((token) => `countersign.session_token=${encodeURIComponent(signed(token))}`);
}

const askCounts = (browsers: ChildProcess): Promise<{ open: number; messages: number }> =>
  new Promise((resolve) => {
    browsers.once("message", (counts) => resolve(counts as { open: number; messages: number }));
    browsers.send({});
  });

/** Starts a process that opens the streams of all simulated browsers, and waits until they are open. */
async function openBrowsers(port: number, cookies: readonly string[]): Promise<ChildProcess> {
  const browsers = fork("bench/stream-browsers.ts", [String(port)]);
  const all = Array.from({ length: BROWSERS }, (_, at) => cookies[at % cookies.length]!);
  for (let at = 0; at < BROWSERS; at += PART) {
    browsers.send({ cookies: all.slice(at, at + PART) });
    await pause(100);
  }
  for (const limit = Date.now() + 60_000; (await askCounts(browsers)).open < BROWSERS; await pause(200)) {
    if (Date.now() > limit) throw new Error(`Only ${(await askCounts(browsers)).open} streams were opened.`);
  }
  return browsers;
}

async function rate(server: BenchServer, scene: Scene, mandateId: string, seconds: number) {
  const targets = scene.keys.map((key) => ({
    port: server.port,
    path: "/api/v1/payments/authorize",
    headers: { Authorization: `Bearer ${key}` },
  }));
  const good = (status: number, body: string) => status === 200 && body.includes('"outcome":"allow"');
  return load({ targets, connections: CONNECTIONS, seconds, body: () => authorizeBody(scene, mandateId), good });
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * Measures without and with streams alternately, in reverse order in every second round, so that the conditions are equal for
 * both.
 */
async function compare(server: BenchServer, scene: Scene, cookies: readonly string[], how: { rounds: number; seconds: number }) {
  const mandateId = await scene.mandate("1000000");
  await rate(server, scene, mandateId, WARM_SECONDS);
  const measured = { alone: [] as number[], beside: [] as number[] };
  let [messages, errors] = [0, 0];
  for (let round = 0; round < how.rounds; round += 1) {
    const turns = round % 2 === 0 ? (["alone", "beside"] as const) : (["beside", "alone"] as const);
    for (const turn of turns) {
      const browsers = turn === "beside" ? await openBrowsers(server.port, cookies) : null;
      const { perSecond, errors: failed } = await rate(server, scene, mandateId, how.seconds);
      measured[turn].push(perSecond);
      errors += failed;
      if (browsers) messages += (await askCounts(browsers)).messages;
      browsers?.kill();
      await pause(SETTLED_MS);
    }
  }
  const ratio = median(measured.beside.map((one, at) => one / (measured.alone[at] ?? 1)));
  return { streams: BROWSERS, alone: median(measured.alone), beside: median(measured.beside), ratio, messages, errors };
}

type How = { readonly rounds: number; readonly seconds: number };

/** Measures how much a thousand open streams of changes slow down the authorization of payments in the same process. */
export async function measureStreams(
  databaseUrl: string,
  environment: Readonly<Record<string, string>>,
  how: How,
): Promise<Streams> {
  const secret = randomBytes(36).toString("base64url");
  // All simulated browsers have the same network address, so raise the rate limit for pages.
  const own = { ...environment, BETTER_AUTH_SECRET: secret, RATE_LIMIT_PAGES: "10000" };
  const server = await start([...nodeFlags, "server.ts"], own, "/api/v1/health/live");
  try {
    const scene = await setScene(server.url, 4);
    for (const limit = Date.now() + 60_000; (await fetch(`${server.url}/icon.svg`)).status !== 200 && Date.now() < limit;)
      await pause(250);
    return await compare(server, scene, await newSessions(databaseUrl, secret, BROWSERS / PER_SESSION), how);
  } finally {
    await server.stop();
  }
}

/** `npm run bench -- --streams`: runs only this measurement. */
export async function measureStreamsAlone(how: How): Promise<Streams> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const database = await startEmbedded({ dataDir: folder });
  try {
    return await measureStreams(database.url, { DATABASE_URL: database.url, DATA_DIR: folder, ENVIRONMENT: "sandbox" }, how);
  } finally {
    await database.stop();
    // PostgreSQL keeps its data outside of `folder` if the account that runs it cannot reach `folder`, so remove both directories.
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
