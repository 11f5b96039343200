import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { call } from "#lib/http/client.ts";
import { emergencyRevoke } from "#lib/platform/contract.ts";
import { random as seeded } from "#test/random.ts";
import { Balancer } from "../load/balancer.ts";
import { check, READY, type Process } from "../load/check.ts";
import { Load } from "../load/load.ts";
import type { Nodes, Way } from "./nodes.ts";
import { refusalOf, serve } from "./service.ts";

/** What is lost, and how. Each part of a drill leaves three nodes that are in step. */
const losses = ["primary", "one standby", "both standbys"] as const;
export type Part = {
  readonly lost: (typeof losses)[number];
  readonly way: Way;
  /** Whether a lost primary is there again as soon as another one is promoted. */
  readonly soon: boolean;
};

/** In milliseconds, of the parts that were played. */
export type Times = {
  /** The first acknowledged payment after a promotion. */
  firstMs?: number;
  /** The longest time without an acknowledged payment after a promotion, until the lost machine is a standby again. */
  gapMs?: number;
  /** A revocation without one standby, and the longest time without an acknowledged payment then. */
  revokedMs?: number;
  gapWithOneMs?: number;
  /** How long both processes took to say that they are not ready without standbys, and to be ready again with them. */
  notReadyMs?: number;
  readyMs?: number;
  payments: number;
};

const BEFORE_MS = 1_000;
/** So long the old primary is there beside the new one. */
const BESIDE_MS = 3_000;
const AFTER_MS = 1_500;
const LIMIT_MS = 30_000;

/** The parts of a seed in their order. */
export function partsOf(seed: number): Part[] {
  const random = seeded(seed);
  const order = losses.map((lost) => ({ lost, at: random() })).toSorted((a, b) => a.at - b.at);
  return order.map(({ lost }) => ({ lost, way: random() < 0.5 ? "killed" : "silent", soon: random() < 0.5 }));
}

type Say = (sentence: string) => void;
type Setting = {
  readonly nodes: Nodes;
  readonly folder: string;
  readonly say: Say;
  /** Registers what ends something that was started. */
  closing(close: () => Promise<void>): void;
};

async function until(what: string, isTrue: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  for (; !(await isTrue()); await pause(20))
    assert.ok(performance.now() - began < LIMIT_MS, `Not within ${LIMIT_MS / 1_000} s: ${what}.`);
  return performance.now() - began;
}

/** Two processes of the service on three nodes, under load. */
class Drill {
  readonly times: Times = { payments: 0 };
  readonly #setting: Setting;
  readonly #balancer: Balancer;
  readonly #processes: readonly Process[];
  readonly #load: Load;

  private constructor(setting: Setting, balancer: Balancer, processes: readonly Process[], load: Load) {
    [this.#setting, this.#balancer, this.#processes, this.#load] = [setting, balancer, processes, load];
  }

  static async open(setting: Setting): Promise<Drill> {
    const { nodes, folder, closing } = setting;
    const balancer = await Balancer.open();
    closing(() => balancer.close());
    const processes: Process[] = [];
    for (const name of ["process 1", "process 2"]) {
      const starting = serve(name, { databaseUrl: nodes.databaseUrl, baseUrl: balancer.url, folder });
      closing(async () => (await starting.catch(() => null))?.stop());
      processes.push(await starting);
    }
    balancer.backends = processes;
    const load = await Load.prepare(balancer, { outages: true });
    closing(() => load.stop());
    const sql = postgres(await nodes.primaryUrl(), { max: 1 });
    await sql`UPDATE "user" SET platform_roles = '{user,admin}'`;
    await sql.end();
    return new Drill(setting, balancer, processes, load);
  }

  /** Plays a part under load, and then checks every promise. */
  async play(part: Part): Promise<void> {
    const lose: Readonly<Record<Part["lost"], (part: Part) => Promise<void>>> = {
      primary: (one) => this.#losePrimary(one),
      "one standby": (one) => this.#loseOne(one),
      "both standbys": (one) => this.#loseBoth(one),
    };
    await this.#load.start();
    await pause(BEFORE_MS);
    const began = performance.now();
    await lose[part.lost](part);
    await this.#load.stop();
    const repeats = await check(this.#processes, this.#load, await this.#setting.nodes.primaryUrl());
    for (const { pid, version } of this.#processes) assert.ok(process.kill(pid, 0), `${version} has ended.`);
    this.times.payments = this.#load.answers.length;
    this.#setting.say(`  ${part.lost} ${part.way} (${((performance.now() - began) / 1_000).toFixed(1)} s). ${repeats}`);
  }

  async #losePrimary({ way, soon }: Part): Promise<void> {
    const { nodes, folder } = this.#setting;
    const promoted = await nodes.losePrimary(way);
    if (soon) await nodes.returnPrimary();
    await until("a payment after the promotion", async () => this.#since(promoted).length > 0);
    this.times.firstMs = this.#since(promoted)[0]! - promoted;
    // Each process has seen the promotion then: only the new primary has a standby, and acknowledges.
    for (const one of this.#processes) await this.#load.payAt(one);
    const old = await nodes.oldPrimary();
    if (old) {
      const before = await old.nextTransaction();
      await pause(BESIDE_MS);
      const place = { databaseUrl: old.url, baseUrl: this.#balancer.url, folder };
      assert.match(await refusalOf(this.#processes[0]!.version, place), /old primary: its timeline is/);
      assert.equal(await old.nextTransaction(), before, "The old primary was written to.");
    }
    await nodes.rejoin();
    await pause(AFTER_MS);
    this.times.gapMs = this.#gapSince(promoted);
  }

  async #loseOne({ way }: Part): Promise<void> {
    const { nodes } = this.#setting;
    const began = performance.now();
    await nodes.loseStandbys(1, way);
    const mandateId = this.#load.tight;
    const options = { baseUrl: this.#balancer.url, headers: this.#load.person };
    const asked = performance.now();
    await call(emergencyRevoke, { body: { reason: "A leaked key.", mandateId } }, options);
    this.times.revokedMs = performance.now() - asked;
    await pause(AFTER_MS);
    await nodes.regainStandbys();
    await pause(AFTER_MS);
    this.times.gapWithOneMs = this.#gapSince(began);
  }

  async #loseBoth({ way }: Part): Promise<void> {
    const { nodes } = this.#setting;
    const began = performance.now();
    await nodes.loseStandbys(2, way);
    const away = performance.now();
    const saysWhy = async ({ url }: Process): Promise<boolean> => {
      const reply = await fetch(url + READY);
      return reply.status === 503 && nodes.withoutStandbys.test(await reply.text());
    };
    // Both are asked from the beginning, as a process that nobody asks tries no commit.
    await Promise.all(this.#processes.map((one) => until(`${one.version} says why it is not ready`, () => saysWhy(one))));
    this.times.notReadyMs = performance.now() - began;
    await pause(AFTER_MS);
    const acknowledged = this.#since(away + 500).length;
    assert.equal(acknowledged, 0, `${acknowledged} payments were acknowledged that no standby has.`);
    const back = performance.now();
    await nodes.regainStandbys();
    await until("a payment with standbys", async () => this.#since(back).length > 0);
    for (const one of this.#processes) await until(`${one.version} is ready`, () => this.#isReady(one));
    this.times.readyMs = performance.now() - back;
    await pause(AFTER_MS);
  }

  #isReady = async ({ url }: Process): Promise<boolean> => (await fetch(url + READY).catch(() => null))?.status === 200;

  /** When payments were acknowledged after a time. */
  #since(time: number): number[] {
    return this.#load.answers.map(({ at }) => at).filter((at) => at >= time);
  }

  /** The longest time without an acknowledged payment. */
  #gapSince(time: number): number {
    const times = [time, ...this.#since(time), performance.now()];
    return Math.max(...times.slice(1).map((at, index) => at - times[index]!));
  }
}

/** Plays the parts on these nodes, with new processes. */
export async function drill(parts: readonly Part[], setting: Setting): Promise<Times> {
  const played = await Drill.open(setting);
  for (const part of parts) await played.play(part);
  return played.times;
}
