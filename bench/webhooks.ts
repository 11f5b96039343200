import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { startEmbedded } from "#lib/db/embedded.ts";
import { call } from "#lib/http/client.ts";
import { createWebhookEndpoint, deleteWebhookEndpoint, updateWebhookEndpoint } from "#lib/webhooks/contract.ts";
import { freePort } from "#test/free-port.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { meterOf } from "./cpu.ts";
import { load } from "./load.ts";
import { authorizeBody, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

/** Microseconds of CPU time, and the number of database transactions, per delivery while nothing else runs. */
type Cost = {
  readonly mainThread: number;
  readonly otherThreads: number;
  readonly postgres: number;
  readonly receiver: number;
  readonly transactions: number;
};

/** What was measured while a backlog of webhook messages was sent. */
export type Drain = {
  readonly backlog: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly connections: number;
  readonly cost: Cost;
  /** Resident memory of the server in MiB, every five seconds. */
  readonly residentMiB: readonly number[];
};

/**
 * Payments that are authorized per second: `alone`, and `beside` while all their events are delivered; and the deliveries per
 * second. These three are medians of the rounds. `ratios` is the ratio of each round, and `errors` is a sum.
 */
export type Beside = {
  readonly alone: number;
  readonly beside: number;
  /** The median of the ratios of the rounds. */
  readonly ratio: number;
  readonly ratios: string;
  readonly deliveries: number;
  readonly errors: number;
};

/** Milliseconds from the timestamp of an event to its arrival at the receiver: the median and the 99th percentile. */
export type Delays = { readonly deadEndpoints: number; readonly events: number; readonly p50Ms: number; readonly p99Ms: number };

export type Webhooks = { readonly drain: Drain; readonly beside: Beside; readonly delays: readonly Delays[] };

const BACKLOG = 1_000_000;
const DRAIN_SECONDS = 60;
const CONNECTIONS = 64;
const WARM_SECONDS = 8;
const SAMPLE_MS = 5_000;

type Counts = {
  readonly arrived: number;
  readonly connections: number;
  readonly delays: readonly number[];
  readonly cpuUs: number;
};

async function countsOf(receiver: ChildProcess): Promise<Counts> {
  const told = once(receiver, "message");
  receiver.send({});
  return ((await told) as [Counts])[0];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const share = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

type Stage = {
  readonly server: BenchServer;
  readonly receiver: ChildProcess;
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly receiverUrl: string;
  /** An address at which nothing listens. */
  readonly closedUrl: string;
};

const clientOf = ({ server }: Stage, scene: Scene) => ({ baseUrl: server.url, headers: scene.person });

const newEndpoint = async (stage: Stage, scene: Scene, url: string): Promise<string> =>
  (await call(createWebhookEndpoint, { body: { url } }, clientOf(stage, scene))).webhookEndpointId;

const setStatus = (stage: Stage, scene: Scene, id: string, status: "enabled" | "paused") =>
  call(updateWebhookEndpoint, { id, body: { status } }, clientOf(stage, scene));

function authorizing({ server }: Stage, scene: Scene, mandateId: string, seconds: number, connections = CONNECTIONS) {
  const targets = scene.keys.map((key) => ({
    port: server.port,
    path: "/api/v1/payments/authorize",
    headers: { Authorization: `Bearer ${key}` },
  }));
  const good = (status: number, body: string) => status === 200 && body.includes('"outcome":"allow"');
  return load({ targets, connections, seconds, body: () => authorizeBody(scene, mandateId), good });
}

/** Adds a million events to the audit chain of an organization. Their hashes are only zeros. */
async function addBacklog(sql: Sql, organizationId: string): Promise<void> {
  await sql`
    INSERT INTO audit_entries (chain, sequence, audit_event_id, type, actor_id, organization_id, entity_type, entity_id, metadata, hash, created_at)
    SELECT h.chain, h.sequence + n, 'aud_' || lpad((h.sequence + n)::text, 26, '0'), 'payment.settled', 'service', h.chain, 'execution',
      'exe_' || lpad(n::text, 26, '0'), json_build_object('amount', '0.01', 'asset', 'USDC', 'chain', 'eip155:84532', 'mandateId', 'mdt_bench'),
      repeat('0', 64), clock_timestamp()
    FROM audit_heads h, generate_series(1, ${BACKLOG}::int) AS n WHERE h.chain = ${organizationId}`;
  await sql`UPDATE audit_heads SET sequence = sequence + ${BACKLOG} WHERE chain = ${organizationId}`;
  // Move the cursors of the notices to approvers past these events, because none of the events asks for an approval.
  await sql`UPDATE notice_cursors c SET sequence = h.sequence FROM audit_heads h WHERE h.chain = c.chain`;
  await sql`VACUUM ANALYZE audit_entries`;
}

async function measureDrain(stage: Stage, seconds: number): Promise<Drain> {
  const { server, receiver, sql, databaseUrl, receiverUrl } = stage;
  const scene = await setScene(server.url, 1);
  const id = await newEndpoint(stage, scene, `${receiverUrl}/well`);
  const [row] = await sql`SELECT organization_id FROM webhook_endpoints WHERE webhook_endpoint_id = ${id}`;
  await setStatus(stage, scene, id, "paused");
  await addBacklog(sql, String(row!["organization_id"]));
  const meter = await meterOf(server.pid, databaseUrl);
  await setStatus(stage, scene, id, "enabled");
  await pause(5_000);
  const transactions = async () =>
    Number((await sql`SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()`)[0]!["xact_commit"]);
  const before = { use: await meter.read(), counts: await countsOf(receiver), transactions: await transactions() };
  const began = performance.now();
  const residentMiB: number[] = [];
  while (performance.now() - began < seconds * 1_000) {
    residentMiB.push(Math.round(await server.residentMiB()));
    await countsOf(receiver);
    await pause(SAMPLE_MS);
  }
  const elapsed = (performance.now() - began) / 1_000;
  const after = { use: await meter.read(), counts: await countsOf(receiver), transactions: await transactions() };
  await meter.end();
  await call(deleteWebhookEndpoint, { id, body: {} }, clientOf(stage, scene));
  const arrived = after.counts.arrived - before.counts.arrived;
  const each = (name: "mainThread" | "otherThreads" | "postgres") => Math.round((after.use[name] - before.use[name]) / arrived);
  const cost = {
    mainThread: each("mainThread"),
    otherThreads: each("otherThreads"),
    postgres: each("postgres"),
    receiver: Math.round((after.counts.cpuUs - before.counts.cpuUs) / arrived),
    transactions: (after.transactions - before.transactions) / arrived,
  };
  const connections = after.counts.connections - before.counts.connections;
  return { backlog: BACKLOG, seconds: elapsed, perSecond: arrived / elapsed, connections, cost, residentMiB };
}

/**
 * Measures authorizing without and with deliveries alternately, in reverse order in every second round, so that both have equal
 * conditions.
 */
async function measureBeside(stage: Stage, { rounds, seconds }: How): Promise<Beside> {
  const scene = await setScene(stage.server.url, 4);
  const id = await newEndpoint(stage, scene, `${stage.receiverUrl}/well`);
  const mandateId = await scene.mandate("1000000");
  await authorizing(stage, scene, mandateId, WARM_SECONDS);
  const measured = { alone: [] as number[], beside: [] as number[], deliveries: [] as number[] };
  let errors = 0;
  for (let round = 0; round < rounds; round += 1) {
    const turns = round % 2 === 0 ? (["alone", "beside"] as const) : (["beside", "alone"] as const);
    for (const turn of turns) {
      await setStatus(stage, scene, id, turn === "beside" ? "enabled" : "paused");
      await pause(1_000);
      const before = await countsOf(stage.receiver);
      const began = performance.now();
      const { perSecond, errors: failed } = await authorizing(stage, scene, mandateId, seconds);
      const { arrived } = await countsOf(stage.receiver);
      measured[turn].push(perSecond);
      if (turn === "beside") measured.deliveries.push((1_000 * (arrived - before.arrived)) / (performance.now() - began));
      errors += failed;
    }
  }
  await call(deleteWebhookEndpoint, { id, body: {} }, clientOf(stage, scene));
  const ratios = measured.beside.map((one, at) => one / (measured.alone[at] ?? 1));
  const { alone, beside, deliveries } = measured;
  const all = ratios.map((one) => one.toFixed(2)).join(" ");
  return {
    alone: median(alone),
    beside: median(beside),
    ratio: median(ratios),
    ratios: all,
    deliveries: median(deliveries),
    errors,
  };
}

/** Measures the delay of events without and with endpoints that hang, refuse connections or answer errors. */
async function measureDelays(stage: Stage, seconds: number): Promise<Delays[]> {
  const scene = await setScene(stage.server.url, 4);
  const mandateId = await scene.mandate("1000000");
  await newEndpoint(stage, scene, `${stage.receiverUrl}/well`);
  const rows: Delays[] = [];
  const measure = async (deadEndpoints: number) => {
    await authorizing(stage, scene, mandateId, 2, 1);
    await pause(3_000);
    await countsOf(stage.receiver);
    await authorizing(stage, scene, mandateId, seconds, 1);
    await pause(3_000);
    const { delays } = await countsOf(stage.receiver);
    rows.push({ deadEndpoints, events: delays.length, p50Ms: share(delays, 0.5), p99Ms: share(delays, 0.99) });
  };
  await measure(0);
  const dead = [`${stage.receiverUrl}/hang`, `${stage.receiverUrl}/broken`, stage.closedUrl];
  for (let at = 0; at < 9; at += 1) await newEndpoint(stage, scene, dead[at % dead.length]!);
  await measure(9);
  return rows;
}

type How = { readonly rounds: number; readonly seconds: number };

/**
 * `npm run bench -- --webhooks`: measures the cost of sending webhooks, the rate at which a backlog is sent, and the delay of
 * events.
 */
export async function measureWebhooks(how: How): Promise<Webhooks> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const database = await startEmbedded({ dataDir: folder });
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const [port, closed] = [await freePort(), await freePort()];
  const receiver = fork("bench/webhook-receiver.ts", [String(port)]);
  await once(receiver, "message");
  const OUTBOUND_LOOPBACK = `127.0.0.1:${port},127.0.0.1:${closed}`;
  const environment = { DATABASE_URL: database.url, DATA_DIR: folder, ENVIRONMENT: "sandbox", OUTBOUND_LOOPBACK };
  const server = await start([...nodeFlags, "server.ts", "--api"], environment, "/api/v1/health/live");
  try {
    const stage: Stage = {
      server,
      receiver,
      sql,
      databaseUrl: database.url,
      receiverUrl: `http://127.0.0.1:${port}`,
      closedUrl: `http://127.0.0.1:${closed}/`,
    };
    const beside = await measureBeside(stage, how);
    console.error("bench: a backlog of 1,000,000 events.");
    const drain = await measureDrain(stage, DRAIN_SECONDS);
    console.error("bench: dead endpoints.");
    return { beside, drain, delays: await measureDelays(stage, how.seconds) };
  } finally {
    receiver.disconnect();
    await sql.end({ timeout: 5 });
    await server.stop();
    await database.stop();
    // PostgreSQL keeps its data outside of `folder` if the account that runs it cannot reach `folder`, so remove both directories.
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
