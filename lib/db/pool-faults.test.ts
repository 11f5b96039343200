import { describe, expect, test } from "vitest";
import { databaseAway, outcomeUnknown } from "#lib/db/failure.ts";
import { Pool } from "#lib/db/pool.ts";
import type { Sql } from "#lib/db/sql.ts";
import { FakePostgres, READ, WRITE, type Fault, type Script } from "#test/fake-postgres.ts";
import { random as seeded } from "#test/random.ts";

/**
 * How many random sequences of faults run. The server in this test can fail at any message, and what it did is compared with what
 * the pool reported.
 */
const ORDERS = 10_000;
const AT_ONCE = 100;
const LIMIT_MS = 700;
/**
 * A pool must recover within this many milliseconds. It is much longer than a recovery takes, because a hundred sequences share
 * the process.
 */
const RECOVERY_MS = 120_000;
const HOW = [
  "reset",
  "close",
  "silence",
  "delay",
  "starting",
  "terminate",
  "cancel",
  "answer and reset",
  "act and reset",
  "act and close",
  "act and fall silent",
  "half an answer and reset",
] as const satisfies readonly Fault["how"][];
/** Only few sequences contain these faults, because waiting for a silent server takes the most time. */
const SELDOM: ReadonlySet<string> = new Set(["silence", "act and fall silent"]);

type Random = () => number;
const upTo = (random: Random, count: number): number => Math.floor(random() * count);

function scriptOf(random: Random): Script {
  const kind = random();
  if (kind < 0.25) return null;
  if (kind < 0.35) return "refuse";
  const chosen = HOW[upTo(random, HOW.length)]!;
  const how = SELDOM.has(chosen) && random() < 0.7 ? "reset" : chosen;
  return { at: upTo(random, 16), how };
}

type Seen = "done" | "nothing written" | "maybe written";
type Outcome = { readonly id: string; readonly written: readonly string[]; readonly seen: Seen; readonly error: unknown };

const write = (sql: Sql, value: string) => sql.unsafe(WRITE, [value], { prepare: true });
const read = (sql: Sql, value: string) => sql.unsafe<{ echo: string }[]>(READ, [value], { prepare: true });

class Undone extends Error {}

/** What one caller of the pool does. Resolves to the values that it wrote. */
type Work = (pool: Pool, id: string) => Promise<readonly string[]>;

const single: Work = async (pool, id) => {
  await write(pool.sql, `${id} 0`);
  return [`${id} 0`];
};

const echoed: Work = async (pool, id) => {
  const rows = await read(pool.sql, id);
  expect(rows.map(({ echo }) => echo)).toEqual([id]);
  return [];
};

const transaction: Work = (pool, id) =>
  pool.begin(async (sql) => {
    await write(sql, `${id} 0`);
    expect((await read(sql, `${id} r`))[0]?.echo).toBe(`${id} r`);
    await Promise.all([write(sql, `${id} 1`), write(sql, `${id} 2`)]);
    return [`${id} 0`, `${id} 1`, `${id} 2`];
  });

/** Sends all statements before it reads a result, as batches of authorizations do. */
const pipelined: Work = (pool, id) =>
  pool.begin(async (sql) => {
    const sent = [write(sql, `${id} 0`), read(sql, `${id} r`), write(sql, `${id} 1`)];
    for (const result of await Promise.allSettled<unknown>(sent)) if (result.status === "rejected") throw result.reason;
    return [`${id} 0`, `${id} 1`];
  });

const undone: Work = (pool, id) =>
  pool.begin(async (sql) => {
    await write(sql, `${id} 0`);
    throw new Undone();
  });

/** Uses its connection after giving it back. The statement must not become part of another caller's transaction. */
const stale: Work = async (pool, id) => {
  let kept: Sql | null = null;
  await pool.begin(async (sql) => {
    kept = sql;
    await write(sql, `${id} 0`);
  });
  await expect(write(kept!, `${id} late`)).rejects.toThrow(/returned/);
  return [`${id} 0`];
};

const works = [single, echoed, transaction, pipelined, undone, stale];

async function outcomeOf(pool: Pool, id: string, work: Work): Promise<Outcome> {
  try {
    return { id, written: await work(pool, id), seen: "done", error: null };
  } catch (error) {
    return { id, written: [], seen: outcomeUnknown(error) ? "maybe written" : "nothing written", error };
  }
}

async function within<T>(milliseconds: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end.`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const newPool = (url: string, max: number, graceMs: number): Pool => {
  const limits = {
    waitMs: 3 * LIMIT_MS,
    waitersMax: 100,
    openMs: LIMIT_MS,
    silenceMs: LIMIT_MS,
    idleMs: 60_000,
    lifetimeMs: 60_000,
    graceMs,
  };
  return new Pool({ url, max, settings: {}, ...limits });
};

function check({ id, written, seen, error }: Outcome, { committed }: FakePostgres): void {
  const own = [...committed].filter((value) => value.startsWith(`${id} `));
  if (seen === "done") expect(own.toSorted()).toEqual([...written]);
  if (seen === "nothing written") {
    expect(own).toEqual([]);
    expect(databaseAway(error) || error instanceof Undone ? null : error).toBeNull();
  }
  expect(own).not.toContain(`${id} late`);
}

async function order(seed: number): Promise<void> {
  const random = seeded(seed);
  const fake = await FakePostgres.start(Array.from({ length: 8 }, () => scriptOf(random)));
  const pool = newPool(fake.url, 1 + upTo(random, 3), random() < 0.5 ? 0 : LIMIT_MS);
  pool.onSilence = (since) => pool.forgetUnheardSince(since);
  try {
    const callers = Array.from({ length: 3 + upTo(random, 6) }, async (_, at) => {
      if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, upTo(random, 10)));
      return outcomeOf(pool, `c${at}`, works[upTo(random, works.length)]!);
    });
    const outcomes = await within(30_000, "A caller", Promise.all(callers));
    for (const outcome of outcomes) check(outcome, fake);
    expect(fake.violations).toEqual([]);
    fake.heal();
    await recover(pool);
  } catch (error) {
    throw new Error(`Order ${seed} failed.`, { cause: error });
  } finally {
    await pool.end(100);
    await fake.stop();
  }
}

/**
 * Runs transactions until one succeeds, so that connections on which a fault is still planned are used up. The pool must then
 * work without a restart.
 */
async function recover(pool: Pool): Promise<void> {
  const until = performance.now() + RECOVERY_MS;
  for (let tries = 0; performance.now() < until; tries += 1) {
    const { error } = await within(RECOVERY_MS, "A caller", outcomeOf(pool, `recovery${tries}`, transaction));
    if (error === null) return;
    expect(databaseAway(error)).toBe(true);
  }
  throw new Error("The pool does not recover.");
}

describe("a pool of connections to a server that fails at any message", () => {
  test.each(Array.from({ length: ORDERS / 1_000 }, (_, at) => at * 1_000))(
    "ends every wait, reports writes correctly and recovers (sequences from %d)",
    async (first) => {
      let next = first;
      const client = async (): Promise<void> => {
        while (next < first + 1_000) await order(next++);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, client));
    },
  );
});
