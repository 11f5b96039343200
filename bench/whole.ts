import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "#lib/db/embedded.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { driverAlone, nextConstant } from "./baselines.ts";
import { burst } from "./burst.ts";
import { measureGas } from "./gas.ts";
import { metered, meterOf } from "./cpu.ts";
import { load, type Measurement } from "./load.ts";
import { measureOutside } from "./outside.ts";
import { loadPages } from "./pages.ts";
import { BESIDE, DRIVER, EACH, floorsOf, HOT, show, showFloors, storageOf, type Results, type Row } from "./report.ts";
import { authorizeBody, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";
import { measureStreams } from "./streams.ts";

const say = (line: string): void => console.error(`bench: ${line}`);

const PATH = "/api/v1/payments/authorize";
const HISTORY = 20_000;
const MANDATES = 1_000;

const targetsOf = (server: BenchServer, scene: Scene) =>
  scene.keys.map((key) => ({ port: server.port, path: PATH, headers: { Authorization: `Bearer ${key}` } }));

const allowed = (status: number, body: string): boolean => status === 200 && body.includes('"outcome":"allow"');

async function measure(
  server: BenchServer,
  scene: Scene,
  mandateIds: readonly string[],
  connections: number,
  seconds: number,
): Promise<Measurement> {
  const targets = targetsOf(server, scene);
  const body = (index: number) => authorizeBody(scene, mandateIds[index % mandateIds.length]!);
  return load({ targets, connections, seconds, body, good: allowed });
}

async function inBatches<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) made.push(...(await Promise.all(Array.from({ length: Math.min(16, count - made.length) }, make))));
  return made;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * Runs all measurements in each round, in reverse order in every second round, so that the conditions are equal. Returns for
 * each measurement the medians of the rounds, and the sums of the requests and the errors.
 */
async function inTurns(rounds: number, measures: readonly (() => Promise<Measurement>)[]): Promise<Measurement[]> {
  const measured = measures.map((): Measurement[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const turn = measures.map((one, at) => async () => measured[at]!.push(await one()));
    for (const one of round % 2 === 0 ? turn : turn.toReversed()) await one();
  }
  return measured.map((all) => ({
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
  }));
}

/** Compares the rate on a mandate with at least 20,000 earlier decisions with the rate on a new mandate in each round. */
async function compareHistory(
  server: BenchServer,
  scene: Scene,
  old: string,
  seconds: number,
): Promise<{ fresh: number; old: number }> {
  for (let decided = 0; decided < HISTORY;) decided += (await measure(server, scene, [old], 64, 2)).requests;
  const [fresh, aged] = await inTurns(7, [
    async () => measure(server, scene, [await scene.mandate("1000000")], 64, seconds / 3),
    () => measure(server, scene, [old], 64, seconds / 3),
  ]);
  return { fresh: fresh!.perSecond, old: aged!.perSecond };
}

/** Measures requests that all use one mandate, and the baselines for them. */
async function compareBaselines(
  server: BenchServer,
  scene: Scene,
  hot: string,
  databaseUrl: string,
  seconds: number,
): Promise<Measurement[]> {
  const each = await start(["bench/one-transaction.ts"], { DATABASE_URL: databaseUrl }, "/");
  try {
    const body = () => authorizeBody(scene, hot);
    const asked = { targets: [{ port: each.port, path: "/", headers: {} }], connections: 64, body, good: allowed };
    await load({ ...asked, seconds: 2 });
    return await inTurns(3, [
      () => measure(server, scene, [hot], 64, seconds),
      () => load({ ...asked, seconds }),
      () => driverAlone(databaseUrl, 64, seconds),
    ]);
  } finally {
    await each.stop();
  }
}

/** Prints the result of each section when it is there. A section that fails is named, and the others go on. */
class Sections {
  readonly results: { -readonly [Section in keyof Results]?: Results[Section] } = {};
  readonly failed: string[] = [];
  readonly #prints: boolean;

  constructor(prints: boolean) {
    this.#prints = prints;
  }

  async measure<S extends keyof Results>(section: S, what: string, work: () => Promise<Results[S]>): Promise<void> {
    say(what);
    try {
      const result = await work();
      this.results[section] = result;
      if (this.#prints) show[section](result);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.failed.push(`${section}: ${reason}`);
      say(`${section} failed: ${reason}`);
    }
  }
}

type Service = { readonly server: BenchServer; readonly scene: Scene; readonly databaseUrl: string };

/** Adds to `rows`, so that a failure loses only the rows after it. */
async function measureRows({ server, scene, databaseUrl }: Service, hot: string, seconds: number, rows: Row[]): Promise<Row[]> {
  say(`making ${MANDATES} mandates through the API.`);
  const spread = await inBatches(MANDATES, () => scene.mandate("1000000"));
  await measure(server, scene, [hot], 64, 3);
  await measure(server, scene, spread, 64, 3);
  const meter = await meterOf(server.pid, databaseUrl);
  const add = (name: string, connections: number, measured: Measurement): void => {
    rows.push({ name, connections, ...measured });
    say(`${name}, ${connections} connections: ${Math.round(measured.perSecond)}/s`);
  };
  for (const [name, mandateIds] of [[HOT, [hot]] as const, ["1,000 mandates", spread] as const])
    for (const connections of [1, 16, 64])
      add(name, connections, await metered(meter, () => measure(server, scene, mandateIds, connections, seconds)));
  await meter.end();
  const beside = await compareBaselines(server, scene, hot, databaseUrl, seconds);
  for (const [at, name] of [BESIDE, EACH, DRIVER].entries()) add(name, 64, beside[at]!);
  add("baseline: Next.js constant JSON", 64, await nextConstant(64, seconds));
  return rows;
}

async function measureBursts(server: BenchServer, scene: Scene, startSecond: () => Promise<BenchServer>) {
  const second = await startSecond();
  try {
    return [
      await burst(scene, [server], 100),
      await burst(scene, [server], 200),
      await burst(scene, [server, second], 100),
      await burst(scene, [server, second], 200),
    ];
  } finally {
    await second.stop();
  }
}

export async function measureWhole({ seconds, json }: { readonly seconds: number; readonly json: boolean }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  say("starting PostgreSQL and the production server.");
  const database = await startEmbedded({ dataDir: folder });
  const environment = { DATABASE_URL: database.url, DATA_DIR: folder, ENVIRONMENT: "sandbox" };
  const startServer = () => start([...nodeFlags, "server.ts", "--api"], environment, "/api/v1/health/live");
  const server = await startServer();
  try {
    const scene = await setScene(server.url, 4);
    const hot = await scene.mandate("1000000");
    const at = { server, scene, databaseUrl: database.url };
    const sections = new Sections(!json);
    const { results, failed } = sections;
    const rows: Row[] = [];
    results.rows = rows;
    await sections.measure("rows", "authorizing.", () => measureRows(at, hot, seconds, rows));
    await sections.measure("residentMiB", "memory.", () => server.residentMiB());
    await sections.measure("history", `comparing a mandate with ${HISTORY} decisions and fresh ones.`, () =>
      compareHistory(server, scene, hot, seconds),
    );
    await sections.measure("bursts", "bursts of 200 on one and on two processes.", () =>
      measureBursts(server, scene, startServer),
    );
    await sections.measure("pages", "loading pages of an organization with many payments.", () =>
      loadPages(database.url, environment, scene.person),
    );
    await sections.measure("outside", "authorizing and stopping while strangers load pages.", () =>
      measureOutside(database.url, environment, seconds),
    );
    await sections.measure("streams", "authorizing beside open streams of changes.", () =>
      measureStreams(database.url, environment, { rounds: 6, seconds: seconds / 3 }),
    );
    await sections.measure("gas", "gas of what happens on chain.", measureGas);
    const floors = floorsOf(results);
    if (json) console.log(JSON.stringify({ ...results, storage: storageOf(results.rows ?? []), floors, failed }, null, 2));
    else showFloors(floors);
    for (const one of failed) say(`not measured: ${one}`);
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    await server.stop();
    await database.stop();
    // PostgreSQL keeps its data outside of `folder` if the account that runs it cannot reach `folder`, so remove both directories.
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
