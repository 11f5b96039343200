import { afterEach, describe, expect, test } from "vitest";
import { databaseAway, sqlState } from "#lib/db/failure.ts";
import { Pool, type PoolOptions } from "#lib/db/pool.ts";
import { followRequest, lostDatabase } from "#lib/db/request.ts";
import { FakePostgres, READ, WRITE, type Script } from "#test/fake-postgres.ts";

const pools: Pool[] = [];
const fakes: FakePostgres[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end(100)));
  await Promise.all(fakes.splice(0).map((fake) => fake.stop()));
});

async function poolOf(...scripts: Script[]): Promise<{ readonly pool: Pool; readonly fake: FakePostgres }> {
  return poolWith({}, ...scripts);
}

async function poolWith(options: Partial<PoolOptions>, ...scripts: Script[]) {
  const fake = await FakePostgres.start(scripts);
  fakes.push(fake);
  const limits = { waitMs: 3_000, waitersMax: 100, openMs: 1_000, silenceMs: 2_000, idleMs: 60_000, lifetimeMs: 60_000 };
  const pool = new Pool({ url: fake.url, max: 2, settings: {}, ...limits, graceMs: 1_000, ...options });
  pools.push(pool);
  return { pool, fake };
}

const echo = (pool: Pool, value: string) => pool.sql.unsafe<{ echo: string }[]>(READ, [value], { prepare: true });
const errorOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => error,
  );

/** The fake server counts messages: the start and the first statement of a connection are 0 and 1, the next message is 2. */
const FIRST = 2;

describe("a failure that is shorter than the grace time", () => {
  test("of the server delays its callers, and is not reported", async () => {
    const { pool } = await poolOf(...Array.from({ length: 4 }, () => ({ at: 0, how: "starting" }) as const));
    const rows = await Promise.all(Array.from({ length: 8 }, (_, at) => echo(pool, `${at}`)));
    expect(rows.map(([row]) => row?.echo)).toEqual(Array.from({ length: 8 }, (_, at) => `${at}`));
  });

  test("of a connection does not fail a read, which is sent a second time", async () => {
    const { pool } = await poolOf({ at: FIRST, how: "act and reset" });
    await followRequest(async () => {
      expect(await echo(pool, "a")).toEqual([{ echo: "a" }]);
      expect(await echo(pool, "b").values()).toEqual([["b"]]);
      expect(lostDatabase()).toBeNull();
    });
  });

  test("of two connections fails a read, because it is repeated once", async () => {
    const { pool } = await poolOf({ at: FIRST, how: "reset" }, { at: FIRST, how: "reset" });
    expect(databaseAway(await errorOf(echo(pool, "a")))).toBe(true);
  });

  test("does not repeat a write", async () => {
    const { pool, fake } = await poolOf({ at: FIRST + 4, how: "act and reset" });
    expect(await errorOf(pool.sql.unsafe(WRITE, ["a 1"], { prepare: true }))).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect([...fake.committed]).toEqual(["a 1"]);
  });

  test("begins a transaction on another connection, and runs its work once", async () => {
    const { pool, fake } = await poolOf({ at: FIRST, how: "act and reset" });
    let runs = 0;
    await pool.begin(async (sql) => {
      runs += 1;
      await sql.unsafe(WRITE, ["a 1"], { prepare: true });
    });
    expect([runs, ...fake.committed]).toEqual([1, "a 1"]);
  });

  test("does not repeat a transaction that has begun", async () => {
    const { pool, fake } = await poolOf({ at: FIRST + 3, how: "reset" });
    const write = pool.begin(async (sql) => void (await sql.unsafe(WRITE, ["a 1"], { prepare: true })));
    expect(databaseAway(await errorOf(write))).toBe(true);
    expect([...fake.committed]).toEqual([]);
  });
});

test("a longer failure is reported after the grace time, and then at once", async () => {
  const { pool } = await poolOf(...Array.from({ length: 1_000 }, () => "refuse" as const));
  const took = async (): Promise<number> => {
    const began = performance.now();
    expect(databaseAway(await errorOf(echo(pool, "x")))).toBe(true);
    return performance.now() - began;
  };
  const first = await took();
  expect(first).toBeGreaterThan(900);
  expect(first).toBeLessThan(20_000);
  expect(await took()).toBeLessThan(800);
});

describe("a slow connection", () => {
  test("gives a slow server more time with each attempt, so that a starved process gets its connections back", async () => {
    const slow = Array.from({ length: 40 }, () => ({ at: 0, how: "delay", ms: 500 }) as const);
    const { pool } = await poolWith({ openMs: 200, graceMs: 0 }, ...slow);
    await expect.poll(() => errorOf(echo(pool, "x")), { timeout: 60_000 }).toBeNull();
  });

  test("begins a second attempt beside a slow one, and takes the first that opens", async () => {
    const silent = { at: 0, how: "silence" } as const;
    const { pool, fake } = await poolWith({ openMs: 300, max: 1, graceMs: 0 }, silent, silent);
    expect(sqlState(await errorOf(echo(pool, "x")))).toBe("CONNECTION_LOST");
    expect(await errorOf(echo(pool, "x"))).toBeNull();
    await expect.poll(() => fake.open, { timeout: 60_000 }).toBe(1);
  });
});
