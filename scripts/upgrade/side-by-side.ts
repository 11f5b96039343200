import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { migrate } from "#lib/db/migrate.ts";
import { start } from "../../bench/server.ts";
import { Balancer } from "../load/balancer.ts";
import { check, READY, type Process as Serving } from "../load/check.ts";
import { Load, type Tolerance } from "../load/load.ts";
import { nodeFlags } from "../node-flags.ts";
import { forbidden, nextVersion, notNullSecond, PLANTED_CODE, plantMigrations, type Migrations } from "./planted.ts";
import type { Release } from "./releases.ts";

export type Say = (sentence: string) => void;

export type Order = {
  readonly old: Release;
  readonly next: Release;
  /** An empty database. */
  readonly databaseUrl: string;
  /** An empty folder. */
  readonly folder: string;
  /** How long the load runs after each change. */
  readonly seconds: number;
  readonly say: Say;
  /** Registers what ends a process, for a run that fails. */
  closing(close: () => Promise<void>): void;
};

export type Process = Release & Serving;

/** A release that cannot show the sentence of a newer one refuses the repeat with 503. */
const mayRefuse: NonNullable<Tolerance["mayRefuse"]> = (one, version) =>
  one.version !== version && one.text.includes(PLANTED_CODE);
const NOT_READY_MS = 30_000;

/** The processes of both releases on one database, behind a balancer, with the load of agents. */
export class Installation {
  readonly balancer: Balancer;
  /** More variables of the processes. */
  environment: Readonly<Record<string, string>> = {};
  readonly #order: Order;
  #processes: readonly Process[] = [];
  #load: Load | null = null;

  private constructor(order: Order, balancer: Balancer) {
    [this.#order, this.balancer] = [order, balancer];
  }

  static async open(order: Order): Promise<Installation> {
    const balancer = await Balancer.open();
    const installation = new Installation(order, balancer);
    order.closing(() => installation.close());
    return installation;
  }

  async close(): Promise<void> {
    await this.#load?.stop();
    for (const process of this.#processes) await process.stop();
    this.#turn([]);
    await this.balancer.close();
  }

  async start(release: Release, { pages = false } = {}): Promise<Process> {
    const { databaseUrl, folder } = this.#order;
    const environment = {
      ...this.environment,
      BASE_URL: this.balancer.url,
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(folder, "data"),
      ENVIRONMENT: "sandbox",
      RATE_LIMIT_PER_ADDRESS: "1000000",
      RATE_LIMIT_PER_KEY: "1000000",
    };
    const program = [...nodeFlags, "server.ts", ...(pages ? [] : ["--api"])];
    const server = await start(program, environment, "/api/v1/health/live", release.folder);
    const process = { ...release, ...server };
    this.#turn([...this.#processes, process]);
    return process;
  }

  async stop({ version }: Release): Promise<void> {
    const process = this.processOf(version);
    await process.stop();
    this.#turn(this.#processes.filter((one) => one !== process));
  }

  /** Makes a change under load, checks everything, and says what was found. */
  async stage(name: string, change: () => Promise<unknown>): Promise<void> {
    const { seconds, say } = this.#order;
    const load = await this.#prepared();
    const answered = load.answers.length;
    await load.start();
    await pause(1_000);
    await change();
    await pause(seconds * 1_000);
    await load.stop();
    const repeats = await check(this.#processes, load, this.#order.databaseUrl);
    say(`${name} ${load.answers.length - answered} payments were answered. ${repeats}`);
  }

  /** Makes a change under load. Says how long it took, and in how many milliseconds the slowest payment was answered. */
  async during(change: () => Promise<unknown>): Promise<{ tookMs: number; slowestMs: number; refused: number }> {
    const load = await this.#prepared();
    await load.start();
    await pause(1_000);
    load.slowestMs = 0;
    const began = performance.now();
    await change();
    const tookMs = performance.now() - began;
    await load.stop();
    return { tookMs, slowestMs: load.slowestMs, refused: load.wrong.splice(0).length };
  }

  /** Waits until the process of a release that no longer serves the database says so, and is refused when it starts again. */
  async refuses(release: Release): Promise<void> {
    const { url } = this.processOf(release.version);
    const until = performance.now() + NOT_READY_MS;
    while ((await fetch(url + READY)).status !== 503)
      assert.ok(performance.now() < until, `${release.version} still reports that it is ready.`);
    await this.stop(release);
    await assert.rejects(this.start(release), /This database was changed by Countersign .* can no longer read it\. Start /);
  }

  /** Applies migrations as the release after another one does, by default after `next`. */
  async migrate(migrations: Migrations, after = this.#order.next): Promise<void> {
    const { folder, databaseUrl } = this.#order;
    const later = join(folder, Object.keys(migrations).join());
    await cp(join(after.folder, "drizzle"), later, { recursive: true });
    await plantMigrations(later, migrations);
    const release = nextVersion(after.version);
    const count = await migrate({ url: databaseUrl, environment: "sandbox", folder: later, release });
    assert.ok(count > 0, `${release} has nothing to migrate.`);
  }

  async #prepared(): Promise<Load> {
    return (this.#load ??= await Load.prepare(this.balancer, { mayRefuse }));
  }

  processOf(version: string): Process {
    const found = this.#processes.find((process) => process.version === version);
    assert.ok(found, `No process of ${version} runs.`);
    return found;
  }

  #turn(processes: readonly Process[]): void {
    this.#processes = processes;
    this.balancer.backends = processes;
  }
}

/** The old release is replaced, comes back once, and is replaced again. */
export async function upgrade(order: Order): Promise<void> {
  const { old, next } = order;
  const on = await Installation.open(order);
  await on.start(old);
  await on.stage(`${old.version} serves alone.`, async () => {});
  await on.stage(`${next.version} starts beside it and migrates.`, () => on.start(next));
  await on.stage(`${old.version} stops.`, () => on.stop(old));
  await on.stage(`${old.version} starts again.`, () => on.start(old));
  await on.stage(`${next.version} stops.`, () => on.stop(next));
  await on.stage(`${next.version} starts again.`, () => on.start(next));
  await on.stage(
    `${old.version} is not ready and cannot start after the release after ${next.version} has migrated.`,
    async () => {
      await on.migrate(notNullSecond(next.version));
      await on.refuses(old);
    },
  );
}

/** The next release makes the database, and the old one joins. */
export async function joined(order: Order): Promise<void> {
  const { old, next } = order;
  const on = await Installation.open(order);
  await on.start(next);
  await on.stage(`${next.version} made the database and serves alone.`, async () => {});
  await on.stage(`${old.version} joins.`, () => on.start(old));
  await on.stage(`${next.version} stops.`, () => on.stop(next));
  await on.stage(`${next.version} starts again.`, () => on.start(next));
  await on.migrate({ "9005_forbidden": `-- serves: ${next.version}\n${forbidden}` });
  await on.refuses(old);
  order.say(`${old.version} is not ready and cannot start after a column that it reads was removed.`);
  await on.close();
}
