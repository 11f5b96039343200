import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import postgres from "postgres";
import { install, type Installation, type Node } from "./installation.ts";
import { faults } from "./kinds.ts";
import { Load } from "./load.ts";
import { violations, type Acknowledgement } from "./oracle.ts";
import { planted } from "./planted.ts";
import { random as seeded } from "#test/random.ts";

/** The number of faults. `npm run faults` sets FAULTS for its long run. */
const COUNT = Number(process.env["FAULTS"] ?? Object.keys(faults).length);
const CONNECTIONS = Number(process.env["FAULT_CONNECTIONS"] ?? 16);
const SEED = Number(process.env["FAULT_SEED"] ?? 1);
const isLong = process.env["FAULTS"] !== undefined;
/** When all tests run, they share the cores of a machine that may be slow, so only the long run measures the recovery. */
const RECOVERY_MS = isLong ? 10_000 : 120_000;
const tell = (line: string): boolean => !isLong || process.stderr.write(`${line}\n`);

let on: Installation;
let load: Load;
let sql: postgres.Sql;
beforeAll(async () => {
  on = await install();
  load = await Load.prepare(on);
  sql = postgres(on.databaseUrl, { max: 1, onnotice: () => {} });
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await on?.stop();
}, 60_000);

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
    if (failed === null && took <= RECOVERY_MS) return took;
    lies = ready ? lies + 1 : 0;
    if (lies > 3) throw new Error(`Readiness said 200 ${lies} times after "${fault}" while this failed: ${failed}`);
    if (took > RECOVERY_MS) throw new Error(`${Math.round(took)} ms after "${fault}": ${failed ?? "answered too late"}`);
    await pause(100);
  }
}

type Answer = { readonly authorizationId: string; readonly policyDecision: { readonly outcome: string } };

/** The payments that the servers acknowledged with `allow`. */
const allowed = (): Acknowledgement[] =>
  load.wire.acknowledged.flatMap(({ path, body, text }) => {
    if (!path.endsWith("/payments/authorize")) return [];
    const { authorizationId, policyDecision } = JSON.parse(text) as Answer;
    const { mandateId } = JSON.parse(body) as { mandateId: string };
    return policyDecision.outcome === "allow" ? [{ authorizationId, mandateId }] : [];
  });

/** The sum that each payee was paid, from the database and from the chain, where they differ. */
async function otherBalances(): Promise<unknown[]> {
  const settled = await sql<{ payee: `0x${string}`; sum: string }[]>`
    SELECT a.pay_to AS payee, sum(a.amount)::text AS sum FROM executions e JOIN authorizations a USING (authorization_id)
    WHERE e.settlement_status = 'settled' GROUP BY 1`;
  const balances = await Promise.all(settled.map(({ payee }) => on.chain().balanceOf(payee)));
  return settled.filter(({ sum }, at) => balances[at] !== BigInt(sum)).map((row, at) => ({ ...row, balance: balances[at] }));
}

/** The events that the endpoint wants and has not received. */
async function unsent(): Promise<string[]> {
  const { path, organizationId } = load.scene.hook;
  const received = new Set(on.receiver.at(path).map(({ headers }) => headers["webhook-id"]));
  const wanted = await sql<{ id: string }[]>`
    SELECT audit_event_id AS id FROM audit_entries WHERE chain = ${organizationId} AND (type LIKE 'checkout.%' OR type LIKE 'serviceAccount.%')
      AND created_at > (SELECT created_at FROM webhook_endpoints WHERE organization_id = ${organizationId})`;
  return wanted.map(({ id }) => id).filter((id) => !received.has(id));
}

class Undone extends Error {}

/** What the oracle finds while the database is wrong in this way. */
async function foundIn(change: string): Promise<string[]> {
  let found: string[] = [];
  const planting = sql.begin(async (tx) => {
    // Without triggers and checks, as if the code that they belong to were wrong too.
    await tx.unsafe("SET LOCAL session_replication_role = replica; DROP INDEX executions_one_live");
    const { count } = await tx.unsafe(change);
    expect(count).toBeGreaterThan(0);
    found = await violations(tx, allowed());
    throw new Undone();
  });
  await planting.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
  return found;
}

describe("two servers under load", () => {
  test(
    `survive ${COUNT} faults of the database, the chain, the network and themselves (seed ${SEED})`,
    { timeout: 120_000 + COUNT * (isLong ? 20_000 : 120_000) },
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
        tell(inspect({ slowest, statuses: load.wire.statuses }));
      }
      await load.repeatAll();
      expect(load.wire.wrong).toEqual([]);
    },
  );

  test("keep every rule of the ledger and lose nothing that was acknowledged", { timeout: 1_200_000 }, async () => {
    const open = () => sql`
      SELECT execution_id, settlement_status, settlement_reference, attempts, failure_detail, next_check_at FROM executions
      WHERE settlement_status IN ('pending', 'processing', 'unknown')`;
    // A payment whose server was killed before the shop had it stays pending until it expires, after five minutes.
    await expect.poll(async () => [...(await open())], { timeout: 900_000, interval: 500 }).toEqual([]);
    await expect.poll(unsent, { timeout: 90_000, interval: 500 }).toEqual([]);
    expect(await otherBalances()).toEqual([]);
    expect(await violations(sql, allowed())).toEqual([]);
  });

  test.each(Object.entries(planted))("would be caught: %s", { timeout: 120_000 }, async (_name, change) => {
    expect(await foundIn(change)).not.toEqual([]);
  });
});
