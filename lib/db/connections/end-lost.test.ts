import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { closePools, mainPool, poolsByName, urgentPool } from "#lib/db/client.ts";
import { databaseAway, outcomeUnknown } from "#lib/db/failure.ts";
import { forget } from "#lib/process.ts";
import { Link } from "#test/link.ts";
import { useDatabase } from "#test/database.ts";

const database = useDatabase();

let link: Link;
let direct: string;

beforeEach(async () => {
  await closePools();
  direct = database().url;
  link = await Link.to(direct);
  process.env["DATABASE_URL"] = link.through(direct);
  forget("env");
});

afterEach(async () => {
  process.env["DATABASE_URL"] = direct;
  forget("env");
  await closePools();
  link.close();
});

const errorOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => error,
  );

/** Runs `work` and returns its error and its duration in milliseconds. */
async function timed(work: () => PromiseLike<unknown>): Promise<{ error: unknown; ms: number }> {
  const began = performance.now();
  const error = await errorOf(work());
  return { error, ms: performance.now() - began };
}

describe("a lost message between the service and the database", () => {
  test("ends its connection and server process soon, and the other connections over the broken link", async () => {
    const pids = await Promise.all(
      [1, 2].map(() => mainPool().sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid, pg_sleep(0.1)`),
    );
    link.leaveHalfOpen();
    const { error, ms } = await timed(() => mainPool().sql`SELECT 1`);
    // The read is sent a second time, on a new connection.
    expect(error).toBeNull();
    expect(ms).toBeLessThan(20_000);
    const gone = pids.flat().map(({ pid }) => pid);
    await expect
      .poll(
        () => urgentPool().sql`SELECT pid FROM pg_stat_activity WHERE pid = ANY (string_to_array(${gone.join()}, ',')::int[])`,
      )
      .toEqual([]);
  });

  test("also ends the connections whose server processes wait for the locks of a lost connection", async () => {
    const lock = async () => mainPool().begin((sql) => sql`SELECT pg_advisory_xact_lock(4712), pg_sleep(0.3)`);
    await Promise.all([1, 2, 3].map(() => mainPool().sql`SELECT pg_sleep(0.1)`));
    const locking = [1, 2, 3].map(() => timed(lock));
    await pause(100);
    link.leaveHalfOpen();
    const results = await Promise.all(locking);
    expect(results.map(({ error, ms }) => databaseAway(error) && ms < 20_000)).toEqual([true, true, true]);
    const { error, ms } = await timed(lock);
    expect([error, ms < 20_000]).toEqual([null, true]);
  });

  test("is found as soon as the network works again", async () => {
    await mainPool().sql`SELECT 1`;
    link.freeze();
    const asked = timed(() => mainPool().sql`SELECT 1`);
    await pause(1_500);
    link.mend();
    const { error, ms } = await asked;
    expect(databaseAway(error)).toBe(true);
    expect(ms).toBeLessThan(20_000);
  });

  test("leaves the outcome of a COMMIT unknown if only its answer was lost", async () => {
    await mainPool().sql`CREATE TABLE lost_answers (id int)`;
    const { error, ms } = await timed(() =>
      mainPool().begin(async (sql) => {
        await sql`INSERT INTO lost_answers VALUES (1)`;
        void link.swallowAfter("COMMIT");
      }),
    );
    expect([outcomeUnknown(error), ms < 20_000]).toEqual([true, true]);
    expect(await urgentPool().sql`SELECT id FROM lost_answers`).toEqual([{ id: 1 }]);
    await urgentPool().sql`DROP TABLE lost_answers`;
  });

  test("is not assumed while the server works on a statement or waits for a lock", async () => {
    const { error, ms } = await timed(() => mainPool().sql`SELECT pg_sleep(2.5)`);
    expect([error, ms > 2_400]).toEqual([null, true]);
    const locked = mainPool().begin(async (sql) => {
      await sql`SELECT pg_advisory_xact_lock(4711)`;
      await pause(2_500);
    });
    await pause(200);
    const waits = await timed(() => urgentPool().begin((sql) => sql`SELECT pg_advisory_xact_lock(4711)`));
    expect([waits.error, await errorOf(locked)]).toEqual([null, null]);
  });

  test("is not assumed because this process was busy and sent its statements late", async () => {
    await mainPool().sql`SELECT pg_sleep(1.2)`;
    for (let round = 0; round < 4; round += 1) {
      await pause(700);
      const asked = Array.from({ length: 6 }, () => errorOf(mainPool().sql`SELECT 1`));
      // Let the driver take the statements. The busy loop then keeps this process from writing them to the socket.
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      for (const until = performance.now() + 1_050; performance.now() < until;);
      expect(await Promise.all(asked)).toEqual(asked.map(() => null));
    }
  });

  test("does not end a connection that waits for the lock of a healthy one", async () => {
    await mainPool().sql`SELECT 1`;
    const holder = postgres(direct, { max: 1 });
    const holding = holder.begin(async (sql) => {
      await sql`SELECT pg_advisory_xact_lock(4713)`;
      await pause(2_600);
    });
    await pause(100);
    const other = await Link.to(direct);
    process.env["DATABASE_URL"] = other.through(direct);
    forget("env");
    const waits = errorOf(urgentPool().begin((sql) => sql`SELECT pg_advisory_xact_lock(4713)`));
    await pause(200);
    link.leaveHalfOpen();
    const lost = await errorOf(mainPool().sql`SELECT 1`);
    expect(lost === null || databaseAway(lost)).toBe(true);
    expect(await waits).toBeNull();
    await holding;
    await holder.end();
    other.close();
  });

  test("does not end another process that got the same pid after a failover", async () => {
    const other = postgres(direct, { max: 1, connection: { application_name: "countersign" } });
    const [row] = await other<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    await pause(600);
    const asked = mainPool().use(async (sql, connection) => {
      connection.backend = { pid: row!.pid, since: performance.now() - 600_000 };
      link.leaveHalfOpen();
      await sql`SELECT 1`;
    });
    expect(databaseAway(await errorOf(asked))).toBe(true);
    expect(await other`SELECT pg_backend_pid() AS pid`).toEqual([row]);
    await other.end();
  });

  test("is not searched for after the pools were closed", async () => {
    await mainPool().sql`SELECT 1`;
    const slow = errorOf(mainPool().sql`SELECT pg_sleep(1.6)`);
    await pause(100);
    await closePools();
    expect(await slow).toBeNull();
    expect(poolsByName().size).toBe(0);
  });
});
