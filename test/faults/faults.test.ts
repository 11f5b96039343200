import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { install, type Installation, type Node } from "#test/faults/installation.ts";
import { faults } from "#test/faults/kinds.ts";
import { Load } from "#test/faults/load.ts";
import { brokenInvariants } from "#test/proof.ts";
import { random as seeded } from "#test/random.ts";

/** The number of faults. `npm run faults` sets FAULTS for its long run. */
const COUNT = Number(process.env["FAULTS"] ?? Object.keys(faults).length);
const CONNECTIONS = Number(process.env["FAULT_CONNECTIONS"] ?? 16);
const SEED = Number(process.env["FAULT_SEED"] ?? 1);
const RECOVERY_MS = 10_000;
const isLong = process.env["FAULTS"] !== undefined;
/**
 * In the long run of `npm run faults`, a server must answer all probes within RECOVERY_MS. When all tests run, they share the
 * cores, so there a probe that begins within RECOVERY_MS may be answered later.
 */
const ANSWERED_MS = isLong ? RECOVERY_MS : Infinity;
const tell = (line: string): boolean => !isLong || process.stderr.write(`${line}\n`);

let on: Installation;
let load: Load;
beforeAll(async () => {
  on = await install();
  load = await Load.prepare(on);
}, 120_000);
afterAll(() => on?.stop(), 60_000);

/** Yields each kind of fault once, then random kinds that the seed determines. */
function* drawn(random: () => number): Generator<string> {
  const names = Object.keys(faults);
  yield* names
    .map((name) => ({ name, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ name }) => name);
  for (;;) yield names[Math.floor(random() * names.length)]!;
}

/**
 * Returns the milliseconds until a server answers all probes. Throws if that takes too long, or if the server says several
 * times that it is ready while probes still fail.
 */
async function recovered(node: Node, fault: string): Promise<number> {
  const began = performance.now();
  let lies = 0;
  for (;;) {
    const ready = await load.ready(node).catch(() => false);
    const failed = await load.probe(node);
    const took = performance.now() - began;
    if (failed === null && took <= ANSWERED_MS) return took;
    lies = ready ? lies + 1 : 0;
    if (lies > 3) throw new Error(`Readiness said 200 ${lies} times after "${fault}" while this failed: ${failed}`);
    if (took > RECOVERY_MS) throw new Error(`${Math.round(took)} ms after "${fault}": ${failed ?? "answered too late"}`);
    await pause(100);
  }
}

describe("two servers under load", () => {
  test(
    `survive ${COUNT} faults of the database, the chain and the network (seed ${SEED})`,
    { timeout: 60_000 + COUNT * 20_000 },
    async () => {
      const random = seeded(SEED);
      const names = drawn(random);
      load.run(CONNECTIONS, random);
      const slowest = new Map<string, number>();
      try {
        for (let count = 0; count < COUNT; count += 1) {
          const name = names.next().value as string;
          await faults[name]!(on, random);
          const took = Math.max(...(await Promise.all(on.nodes.map((node) => recovered(node, name)))));
          slowest.set(name, Math.max(took, slowest.get(name) ?? 0));
          tell(`${count + 1}/${COUNT} ${name}: answered everything after ${Math.round(took)} ms`);
          for (const { server } of on.nodes) expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null]);
        }
      } finally {
        await load.stop();
      }
      await load.repeatAll();
      tell(inspect({ slowest, statuses: load.findings.statuses }));
      expect(load.findings.wrong).toEqual([]);
    },
  );

  test("keep every invariant of the ledger, and settle each authorization at most once", { timeout: 120_000 }, async () => {
    const open = () =>
      database().execute(sql`
        SELECT execution_id, settlement_status, settlement_reference, attempts, failure_detail, from_block::text, created_at::text,
          next_check_at::text, clock_timestamp()::text AS now
        FROM executions WHERE settlement_status IN ('pending', 'processing', 'unknown')`);
    await expect.poll(async () => [...(await open())], { timeout: 90_000, interval: 500 }).toEqual([]);
    const [settled] = await database().execute<{ sum: string }>(sql`
      SELECT coalesce(sum(a.amount), 0)::text AS sum FROM executions e JOIN authorizations a USING (authorization_id)
      WHERE e.settlement_status = 'settled'`);
    expect(await load.paid()).toBe(BigInt(settled!.sum));
    expect(await brokenInvariants()).toEqual([]);
  });
});
