import postgres, { type Sql } from "postgres";
import { afterEach, describe, expect, test } from "vitest";
import { databaseAway } from "#lib/db/failure.ts";
import { useDatabase } from "#test/database.ts";

/** What scripts/patch.mjs corrects in the driver; without it these tests end the process or hang. */
const database = useDatabase();
const open: Sql[] = [];

const connect = (max: number): Sql => {
  const sql = postgres(database().url, { max, onnotice: () => {}, backoff: () => 0 });
  open.push(sql);
  return sql;
};

const away = async (promise: Promise<unknown>): Promise<void> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(databaseAway(error)).toBe(true);
};

async function killBackend(pid: number): Promise<void> {
  const killer = connect(1);
  await killer`SELECT pg_terminate_backend(${pid})`;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((sql) => sql.end({ timeout: 1 })));
});

describe("a connection that the server closes", () => {
  test("fails its transaction, and the pool goes on", async () => {
    const sql = connect(1);
    const work = sql.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      const sleeping = tx`SELECT pg_sleep(20)`;
      sleeping.catch(() => {});
      await killBackend(row!.pid);
      await sleeping;
    });
    await away(work);
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  });

  test("fails a transaction that was not talking to it, and the pool goes on", async () => {
    const sql = connect(1);
    const work = sql.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await killBackend(row!.pid);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await tx`SELECT 1`;
    });
    await away(work);
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  });

  test("fails what was pipelined on a reservation, whose release then gives nothing away", async () => {
    const sql = connect(1);
    const c = await sql.reserve();
    const [row] = await c<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    const pipelined = [c`SELECT pg_sleep(${20})`, c`SELECT ${1}::int`, c`SELECT ${2}::int`, c`SELECT 3`].map((query) =>
      away(query),
    );
    await killBackend(row!.pid);
    await Promise.all(pipelined);
    await away(c`ROLLBACK`);
    c.release();
    const next = await sql.reserve();
    expect(await next`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    next.release();
  });

  test("is not written to by the transaction that held it before", async () => {
    const sql = connect(1);
    const first = await sql.reserve();
    const [row] = await first<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    await killBackend(row!.pid);
    await away(first`SELECT pg_sleep(1)`);
    const second = await sql.reserve();
    await second`BEGIN`;
    await second`CREATE TEMP TABLE mine (value int) ON COMMIT DROP`;
    await away(first`ROLLBACK`);
    first.release();
    expect(await second`SELECT count(*)::int AS count FROM mine`).toEqual([{ count: 0 }]);
    await second`ROLLBACK`;
    second.release();
  });
});

test("a query that is given to a connection just before its silence would count as an end is answered", async () => {
  const sql = postgres(database().url, { max: 1, onnotice: () => {}, connection: { statement_timeout: 500 } });
  open.push(sql);
  await sql`SELECT 1`;
  // Five seconds more than statement_timeout. It is given to the connection before, and the process is busy until after.
  await new Promise((resolve) => setTimeout(resolve, 5_300));
  // As look-ups of keys are: what is asked here is written in the next turn, and timers come first.
  await new Promise((resolve) => void setImmediate(resolve));
  const asked = sql`SELECT 2 AS two`.execute();
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  for (const until = performance.now() + 400; performance.now() < until;);
  expect(await asked).toEqual([{ two: 2 }]);
});
