import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbedded } from "#lib/db/embedded.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { Connection } from "./client.ts";
import { authorizeBody, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

const PATH = "/api/v1/payments/authorize";
const MANDATES = 200;

/** The minutes after which memory counts: caches, compiled code and the heap have reached their size by then. */
const WARM_MINUTES = 10;

export type SoakMinute = {
  readonly minute: number;
  readonly residentMiB: number;
  readonly descriptors: number;
  readonly answered: number;
};

/** Memory in MiB per minute: the slope of the line with the least squares through the minutes after WARM_MINUTES. */
export function growthOf(minutes: readonly SoakMinute[]): number {
  const counted = minutes.filter(({ minute }) => minute >= WARM_MINUTES);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(counted.map(({ minute }) => minute));
  const y = mean(counted.map(({ residentMiB }) => residentMiB));
  const of = counted.map(({ minute, residentMiB }) => [(minute - x) * (residentMiB - y), (minute - x) ** 2] as const);
  return of.reduce((sum, [up]) => sum + up, 0) / of.reduce((sum, [, across]) => sum + across, 0);
}

/** What agents and people ask in turn: new payments, a repeat, and reads. */
async function client(server: BenchServer, scene: Scene, mandateIds: readonly string[]): Promise<(at: number) => Promise<void>> {
  const headers = { Authorization: `Bearer ${scene.keys[0]}` };
  const connection = await Connection.open({ port: server.port, path: PATH, headers });
  let last = "";
  let turn: Promise<unknown> = Promise.resolve();
  const post = (body: string): Promise<void> => {
    const sent = turn.then(async () => {
      const { status } = await connection.send(body);
      if (status !== 200) throw new Error(`authorize answered ${status}`);
    });
    turn = sent;
    return sent;
  };
  const read = async (path: string): Promise<void> => {
    const reply = await fetch(server.url + path, { headers: scene.person });
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`${path} answered ${reply.status}`);
  };
  return (at) => {
    const kind = at % 10;
    if (kind === 7) return read(`/api/v1/mandates/${mandateIds[at % mandateIds.length]}`);
    if (kind === 8) return read("/api/v1/payments?limit=20");
    if (kind === 9) return read("/api/v1/auth/session");
    if (kind !== 6) last = authorizeBody(scene, mandateIds[at % mandateIds.length]!);
    return post(last);
  };
}

/** Sends requests at a constant rate and reads the memory of the server once a minute. */
export async function soak(options: {
  readonly minutes: number;
  readonly perSecond: number;
  readonly told: (minute: SoakMinute) => void;
}): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-soak-"));
  const database = await startEmbedded({ dataDir: folder });
  const environment = { DATABASE_URL: database.url, DATA_DIR: folder, ENVIRONMENT: "sandbox" };
  const server = await start([...nodeFlags, "server.ts", "--api"], environment, "/api/v1/health/live");
  try {
    const scene = await setScene(server.url, 1);
    const mandateIds: string[] = [];
    while (mandateIds.length < MANDATES) mandateIds.push(await scene.mandate("1000000"));
    const ask = await client(server, scene, mandateIds);
    const minutes: SoakMinute[] = [];
    const began = performance.now();
    let answered = 0;
    let failed: unknown = null;
    for (let sent = 0; sent < options.minutes * 60 * options.perSecond; sent += 1) {
      const due = began + (sent * 1000) / options.perSecond - performance.now();
      if (due > 0) await pause(due);
      ask(sent).then(
        () => (answered += 1),
        (error: unknown) => (failed ??= error),
      );
      if (failed !== null) throw new Error("A request of the soak failed.", { cause: failed });
      if ((sent + 1) % (60 * options.perSecond) !== 0) continue;
      const descriptors = (await readdir(`/proc/${server.pid}/fd`)).length;
      const minute = Math.round((sent + 1) / (60 * options.perSecond));
      minutes.push({ minute, residentMiB: await server.residentMiB(), descriptors, answered });
      options.told(minutes.at(-1)!);
    }
    return growthOf(minutes);
  } finally {
    await server.stop();
    await database.stop();
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
