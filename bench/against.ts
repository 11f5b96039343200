import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { startEmbedded } from "#lib/db/embedded.ts";
import { checkOut } from "../scripts/check-out.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { metered, meterOf, type Meter, type Metered } from "./cpu.ts";
import { load } from "./load.ts";
import { authorizeBody, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

const root = join(import.meta.dirname, "..");
const MANDATES = 200;

type Side = {
  readonly name: string;
  readonly server: BenchServer;
  readonly scene: Scene;
  readonly hot: string;
  readonly spread: readonly string[];
  readonly meter: Meter;
};

type Kind = { readonly name: string; readonly connections: number; readonly mandatesOf: (side: Side) => readonly string[] };

const kinds: readonly Kind[] = [
  { name: "hot mandate", connections: 64, mandatesOf: ({ hot }) => [hot] },
  { name: `${MANDATES} mandates`, connections: 64, mandatesOf: ({ spread }) => spread },
  { name: "hot mandate", connections: 1, mandatesOf: ({ hot }) => [hot] },
];

async function openSide(name: string, cwd: string, databaseUrl: string, dataDir: string): Promise<Side> {
  const environment = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ENVIRONMENT: "sandbox" };
  const server = await start([...nodeFlags, "server.ts", "--api"], environment, "/api/v1/health/live", cwd);
  const scene = await setScene(server.url, 4);
  const spread: string[] = [];
  while (spread.length < MANDATES)
    spread.push(...(await Promise.all(Array.from({ length: 10 }, () => scene.mandate("1000000")))));
  return { name, server, scene, hot: await scene.mandate("1000000"), spread, meter: await meterOf(server.pid, databaseUrl) };
}

async function turn(side: Side, { connections, mandatesOf }: Kind, seconds: number): Promise<Metered> {
  const { server, scene, meter } = side;
  const mandates = mandatesOf(side);
  const path = "/api/v1/payments/authorize";
  const targets = scene.keys.map((key) => ({ port: server.port, path, headers: { Authorization: `Bearer ${key}` } }));
  const body = (index: number) => authorizeBody(scene, mandates[index % mandates.length]!);
  const good = (status: number, text: string) => status === 200 && text.includes('"outcome":"allow"');
  return metered(meter, () => load({ targets, connections, seconds, body, good }));
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * Returns a row for the working tree, a row for the commit, and a row with ratios. A ratio is the value of the working tree
 * divided by the value of the commit in the same round; the row has the median of all rounds.
 */
function rowsOf(kind: Kind, sides: readonly { readonly name: string }[], turns: readonly (readonly [Metered, Metered])[]) {
  const columns: Record<string, (turn: Metered) => number> = {
    "requests/s": ({ perSecond }) => perSecond,
    "p50 ms": ({ p50Ms }) => p50Ms,
    "p99 ms": ({ p99Ms }) => p99Ms,
    "main thread µs": ({ spent }) => spent.mainThread,
    "other threads µs": ({ spent }) => spent.otherThreads,
    "PostgreSQL µs": ({ spent }) => spent.postgres,
    "client µs": ({ spent }) => spent.client,
    "Node + PostgreSQL µs": ({ spent }) => spent.mainThread + spent.otherThreads + spent.postgres,
    "WAL bytes": ({ spent }) => spent.walBytes,
    "disk bytes": ({ spent }) => spent.diskBytes,
    errors: ({ errors }) => errors,
  };
  const row = (name: string, value: (of: (turn: Metered) => number) => number) => ({
    scenario: `${kind.name}, ${kind.connections}`,
    side: name,
    ...Object.fromEntries(Object.entries(columns).map(([column, of]) => [column, value(of)])),
  });
  const rounded = (value: number): number => Number(value.toPrecision(4));
  return [
    ...sides.map((side, at) => row(side.name, (of) => rounded(median(turns.map((pair) => of(pair[at]!)))))),
    // Equal values have the ratio 1, even if both are 0, such as the numbers of errors.
    row("ratio", (of) => rounded(median(turns.map(([here, there]) => (of(here) === of(there) ? 1 : of(here) / of(there)))))),
  ];
}

type Program = { readonly name: string; readonly cwd: string };
type Turns = Map<Kind, [Metered, Metered][]>;

/** Each program has a new database of a server that both share. `turns` gets pairs in the order of `programs`. */
async function measure(programs: readonly Program[], folder: string, rounds: number, seconds: number): Promise<Turns> {
  const database = await startEmbedded({ dataDir: join(folder, "database") });
  const sides: Side[] = [];
  try {
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    for (const [at, { name, cwd }] of programs.entries()) {
      await sql.unsafe(`CREATE DATABASE side${at}`);
      const own = new URL(database.url);
      own.pathname = `side${at}`;
      sides.push(await openSide(name, cwd, own.href, join(folder, `side${at}`)));
    }
    await sql.end();
    const [first, second] = sides as [Side, Side];
    for (const kind of kinds) for (const side of sides) await turn(side, kind, 2);
    const turns: Turns = new Map();
    for (const kind of kinds) {
      const pairs: [Metered, Metered][] = [];
      for (let round = 0; round < rounds; round += 1) {
        say(
          `${programs[0]!.name} started first; ${kind.name}, ${kind.connections} connections, round ${round + 1} of ${rounds}.`,
        );
        const isOdd = round % 2 === 1;
        const later = isOdd ? await turn(second, kind, seconds) : null;
        const earlier = await turn(first, kind, seconds);
        pairs.push([earlier, later ?? (await turn(second, kind, seconds))]);
      }
      turns.set(kind, pairs);
    }
    return turns;
  } finally {
    for (const { meter, server } of sides) {
      await meter.end();
      await server.stop();
    }
    await database.stop();
    await rm(database.directory, { recursive: true, force: true });
  }
}

const say = (line: string): void => console.error(`bench: ${line}`);

/**
 * Measures the working tree and a commit alternately, twice, and starts the other one first the second time: the program that starts
 * first was measured at 0.85 to 0.97 of the rate of the same program that starts second.
 */
export async function compareWith(commit: string, { rounds, seconds }: { readonly rounds: number; readonly seconds: number }) {
  const folder = await mkdtemp(join(tmpdir(), "countersign-against-"));
  try {
    say(`checking out ${commit} beside.`);
    const here = { name: "working tree", cwd: root };
    const there = { name: commit, cwd: await checkOut(commit, await mkdtemp(join(folder, "commit-"))) };
    const half = Math.ceil(rounds / 2);
    const ahead = await measure([here, there], join(folder, "ahead"), half, seconds);
    const behind = await measure([there, here], join(folder, "behind"), half, seconds);
    return kinds.flatMap((kind) => {
      const swapped = behind.get(kind)!.map(([theirs, ours]): [Metered, Metered] => [ours, theirs]);
      return rowsOf(kind, [here, there], [...ahead.get(kind)!, ...swapped]);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
