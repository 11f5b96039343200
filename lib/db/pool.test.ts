import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { databaseAway, outcomeUnknown, sqlState } from "#lib/db/failure.ts";
import { Pool, type PoolOptions } from "#lib/db/pool.ts";
import { followRequest, mayHaveWritten } from "#lib/db/request.ts";
import { Link } from "#test/link.ts";
import { useDatabase } from "#test/database.ts";
import { FakePostgres, READ, WRITE, type Script } from "#test/fake-postgres.ts";

const database = useDatabase();
const pools: Pool[] = [];
const fakes: FakePostgres[] = [];

function newPool(url: string, options: Partial<PoolOptions> = {}): Pool {
  const limits = { waitMs: 2_000, waitersMax: 100, openMs: 1_000, silenceMs: 2_000, idleMs: 60_000, lifetimeMs: 60_000 };
  const pool = new Pool({ url, max: 2, settings: {}, ...limits, ...options });
  pools.push(pool);
  return pool;
}

async function fakeServer(...scripts: Script[]): Promise<FakePostgres> {
  const fake = await FakePostgres.start(scripts);
  fakes.push(fake);
  return fake;
}

const errorOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => error,
  );
const stateOf = async (promise: PromiseLike<unknown>): Promise<string | null> => sqlState(await errorOf(promise));
const echo = (pool: Pool, value: string) => pool.sql.unsafe(READ, [value], { prepare: true });
const pidOf = async (pool: Pool): Promise<number> => (await pool.sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`)[0]!.pid;

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end(100)));
  await Promise.all(fakes.splice(0).map((fake) => fake.stop()));
});

describe("opening", () => {
  test("connects to a starting server after six refused connections", async () => {
    const starting = Array.from({ length: 6 }, () => ({ at: 0, how: "starting" }) as const);
    const fake = await fakeServer(...starting);
    const pool = newPool(fake.url);
    const first = await Promise.all(Array.from({ length: 8 }, (_, at) => errorOf(echo(pool, `${at}`))));
    expect(first.every((error) => databaseAway(error))).toBe(true);
    await expect.poll(() => errorOf(echo(pool, "again"))).toBeNull();
    expect(await Promise.all(Array.from({ length: 8 }, (_, at) => echo(pool, `${at}`)))).toHaveLength(8);
  });

  test("waits between attempts if a server accepts a connection and closes it", async () => {
    const fake = await fakeServer(...Array.from({ length: 1_000 }, () => "refuse" as const));
    const pool = newPool(fake.url);
    const until = performance.now() + 1_000;
    let asked = 0;
    while (performance.now() < until) {
      expect(databaseAway(await errorOf(echo(pool, "x")))).toBe(true);
      asked += 1;
    }
    expect(asked).toBeLessThan(20);
  });

  test("gives up in time on a server that accepts a connection and does not answer", async () => {
    const fake = await fakeServer(...Array.from({ length: 10 }, () => ({ at: 0, how: "silence" }) as const));
    const pool = newPool(fake.url, { openMs: 100 });
    const began = performance.now();
    expect(await stateOf(echo(pool, "x"))).toBe("CONNECTION_LOST");
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test("sslmode=prefer continues without TLS if the server has none, and sslmode=require does not", async () => {
    const prefers = newPool(`${database().url}?sslmode=prefer`);
    expect(await prefers.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    const requires = newPool(`${database().url}?sslmode=require`);
    expect((((await errorOf(requires.sql`SELECT 1`)) as Error).cause as Error).message).toMatch(/offers no TLS/);
  });

  test.each(["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"])(
    "the driver's error %s counts as an unavailable database, also inside of another error",
    (code) => {
      const cause = Object.assign(new Error("write CONNECTION"), { code });
      expect([cause, new Error("Failed query", { cause })].map(databaseAway)).toEqual([true, true]);
    },
  );

  test("a wrong password counts as an unavailable database, and its SQLSTATE is kept", async () => {
    const url = new URL(database().url);
    url.password = "wrong";
    const error = await errorOf(newPool(url.href).sql`SELECT 1`);
    expect([databaseAway(error), sqlState(error)]).toEqual([true, "28P01"]);
  });
});

describe("lending", () => {
  test("a caller waits for a connection until its timeout, and the queue is limited", async () => {
    const pool = newPool(database().url, { max: 1, waitMs: 1_000, waitersMax: 1 });
    const held = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const holding = pool.use(async () => {
      entered.resolve();
      await held.promise;
    });
    await entered.promise;
    const [first, second] = await Promise.all([stateOf(pool.sql`SELECT 1`), stateOf(pool.sql`SELECT 1`)]);
    expect([first, second]).toEqual(["POOL_BUSY", "POOL_BUSY"]);
    held.resolve();
    await holding;
    expect(await pool.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  });

  test("a statement on a released connection is not sent", async () => {
    const pool = newPool(database().url, { max: 1 });
    const kept = await pool.use((sql) => Promise.resolve(sql));
    expect(await stateOf(kept`SELECT 1`)).toBe("CONNECTION_LOST");
    expect(await pool.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  });

  test("a connection with a running statement is not lent again", async () => {
    const pool = newPool(database().url, { max: 1 });
    const pid = await pidOf(pool);
    let left: Promise<unknown> | undefined;
    await pool.use((sql) => {
      left = errorOf(sql`SELECT pg_sleep(1)`.execute());
      return new Promise((resolve) => setImmediate(resolve));
    });
    expect(await pidOf(pool)).not.toBe(pid);
    expect(databaseAway(await left)).toBe(true);
  });

  test("a transaction whose caller failed is rolled back before its connection is lent again", async () => {
    const pool = newPool(database().url, { max: 1 });
    const pid = await pidOf(pool);
    const failing = pool.use(async (sql) => {
      await sql`BEGIN`;
      await sql`CREATE TEMP TABLE mine (value int)`;
      throw new Error("left");
    });
    await expect(failing).rejects.toThrow("left");
    expect(await pidOf(pool)).toBe(pid);
    expect(await stateOf(pool.sql`SELECT * FROM mine`)).toBe("42P01");
  });

  test("a statement that a failed transaction sends while it is rolled back is refused", async () => {
    const pool = newPool(database().url, { max: 1 });
    await pool.sql`CREATE TEMPORARY TABLE late (id int)`;
    let late: Promise<unknown> = Promise.resolve();
    const failed = pool.begin((sql) => {
      late = errorOf(Promise.resolve().then(() => sql`INSERT INTO late VALUES (1)`));
      throw new Error("The work failed.");
    });
    expect(await errorOf(failed)).toMatchObject({ message: "The work failed." });
    expect(databaseAway(await late)).toBe(true);
    expect(await pool.sql`SELECT id FROM late`).toEqual([]);
  });

  test("a connection is closed after its maximum age", async () => {
    const pool = newPool(database().url, { max: 1, lifetimeMs: 0 });
    expect(await pidOf(pool)).not.toBe(await pidOf(pool));
  });
});

describe("a connection that the server ends", () => {
  test("rejects its statements, and the pool continues", async () => {
    const pool = newPool(database().url);
    const killer = newPool(database().url);
    const work = pool.begin(async (sql) => {
      const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      const pipelined = [sql`SELECT pg_sleep(${20})`, sql`SELECT ${1}::int`, sql`SELECT 3`].map(stateOf);
      await killer.sql`SELECT pg_terminate_backend(${row!.pid})`;
      expect(await Promise.all(pipelined)).not.toContain(null);
      expect(await stateOf(sql`SELECT 4`)).toBe("CONNECTION_LOST");
    });
    expect(databaseAway(await errorOf(work))).toBe(true);
    expect(await pool.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  });

  test("while it is idle is replaced without an error", async () => {
    const pool = newPool(database().url, { max: 1 });
    const pid = await pidOf(pool);
    await newPool(database().url).sql`SELECT pg_terminate_backend(${pid}, 60000)`;
    await pause(50);
    expect(await pidOf(pool)).not.toBe(pid);
  });
});

describe("a server that stops answering", () => {
  test("delays its callers for a limited time, and the idle connections are not tried one by one", async () => {
    const fake = await fakeServer({ at: 8, how: "silence" }, { at: 8, how: "silence" });
    const pool = newPool(fake.url, { silenceMs: 2_000 });
    pool.onSilence = (since) => pool.forgetUnheardSince(since);
    await Promise.all([echo(pool, "a"), echo(pool, "b")]);
    await pause(2_050);
    const began = performance.now();
    expect(databaseAway(await errorOf(echo(pool, "c")))).toBe(true);
    expect(await errorOf(echo(pool, "d"))).toBeNull();
    expect(performance.now() - began).toBeLessThan(3_900);
  });

  test("also ends the statements of other pools on silent connections, but no other statements", async () => {
    const slow = newPool(database().url, { silenceMs: 10_000 });
    const fake = await fakeServer({ at: 8, how: "silence" });
    const pool = newPool(fake.url, { silenceMs: 400 });
    pool.onSilence = (since) => slow.forgetUnheardSince(since);
    await Promise.all([echo(pool, "a"), slow.sql`SELECT 1`]);
    await pause(50);
    const silent = errorOf(echo(pool, "b"));
    await pause(100);
    const unheard = errorOf(slow.sql`SELECT pg_sleep(2)`);
    const heard = errorOf(slow.sql`SELECT pg_sleep(1)`);
    expect(databaseAway(await silent)).toBe(true);
    expect([databaseAway(await unheard), await heard]).toEqual([true, null]);
  });

  test("has the server processes of its lost connections ended when the pool connects again", async () => {
    const link = await Link.to(database().url);
    onTestFinished(() => link.close());
    const [pool, watcher] = [newPool(link.through(database().url), { max: 3, silenceMs: 300 }), newPool(database().url)];
    pool.onSilence = (since) => pool.forgetUnheardSince(since);
    const pids = await Promise.all(
      [1, 2, 3].map(() =>
        pool.use(async (sql) => {
          const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid, pg_sleep(0.1)`;
          return row!.pid;
        }),
      ),
    );
    link.leaveHalfOpen();
    expect(databaseAway(await errorOf(pool.sql`SELECT 1`))).toBe(true);
    await pool.sql`SELECT 1`;
    const left = () => watcher.sql`SELECT pid FROM pg_stat_activity WHERE pid::text = ANY (string_to_array(${pids.join()}, ','))`;
    await expect.poll(left).toEqual([]);
  });

  test("does not count as silent because this process was busy", async () => {
    const pool = newPool(database().url, { silenceMs: 300 });
    await pool.sql`SELECT 1`;
    const asked = pool.sql`SELECT ${2}::int AS two`.execute();
    await pause(5);
    for (const until = performance.now() + 500; performance.now() < until;);
    expect(await asked).toEqual([{ two: 2 }]);
  });
});

describe("the reported failure", () => {
  test("is the first cause, also if later statements only say that the transaction is aborted", async () => {
    const pool = newPool(database().url);
    const pipelined = pool.begin((sql) => Promise.allSettled([sql`SELECT 1 / 0`, sql`SELECT 2`]));
    expect(await stateOf(pipelined)).toBe("22012");
    const caught = pool.begin(async (sql) => {
      await sql`SELECT 1 / 0`.catch(() => {});
      await sql`SELECT 2`;
    });
    expect(await stateOf(caught)).toBe("22012");
  });

  test("is unknown for a COMMIT or a single write without an answer; a read and a lost transaction wrote nothing", async () => {
    // The fake server counts messages: start and first statement are 0 and 1, BEGIN is 2, a statement takes 6 messages, COMMIT is
    // 9.
    const unknown = async (work: (pool: Pool) => PromiseLike<unknown>, script: Script) => {
      const fake = await fakeServer(script);
      const error = await errorOf(work(newPool(fake.url)));
      return [databaseAway(error), outcomeUnknown(error), fake.committed.size];
    };
    const write = (pool: Pool) => pool.begin(async (sql) => void (await sql.unsafe(WRITE, ["a 1"], { prepare: true })));
    expect(await unknown(write, { at: 9, how: "act and reset" })).toEqual([true, true, 1]);
    expect(await unknown(write, { at: 9, how: "reset" })).toEqual([true, true, 0]);
    expect(await unknown(write, { at: 7, how: "act and reset" })).toEqual([true, false, 0]);
    expect(await unknown((pool) => echo(pool, "a"), { at: 6, how: "act and reset" })).toEqual([true, false, 0]);
    expect(await unknown((pool) => pool.sql.unsafe(WRITE, ["a 1"], { prepare: true }), { at: 6, how: "act and reset" })).toEqual([
      true,
      true,
      1,
    ]);
  });

  test("says whether the request has already written something", async () => {
    const pool = newPool(database().url);
    await followRequest(async () => {
      await pool.sql`SELECT 1`;
      await errorOf(pool.begin((sql) => sql`SELECT 1 / 0`));
      expect(mayHaveWritten()).toBe(false);
      await pool.begin((sql) => sql`SELECT 1`);
      expect(mayHaveWritten()).toBe(true);
    });
    expect(mayHaveWritten()).toBe(false);
  });

  test.each([
    ["a cancelled statement", "57014"],
    ["a full disk", "53100"],
    ["too many connections", "53300"],
    ["a shutdown", "57P01"],
    ["a primary that became a standby", "25006"],
    ["a failure of the storage", "58030"],
  ])("is an unavailable database for %s", (_what, code) => {
    expect(databaseAway(Object.assign(new Error("wrapped"), { cause: Object.assign(new Error("driver"), { code }) }))).toBe(true);
  });
});
