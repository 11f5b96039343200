import { expect, test } from "vitest";
import { inTurn } from "#lib/db/turns.ts";
import { mainPool } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

test("work with one key runs one at a time in its order, except work marked `first`, and other keys do not wait", async () => {
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = (name: string) => async () => void done.push(name);
  const all = [
    inTurn("a", async () => {
      await gate.promise;
      done.push("1");
    }),
    inTurn("a", work("4")),
    inTurn("a", work("5")),
    inTurn("a", work("2"), { first: true }),
    inTurn("a", work("3"), { first: true }),
  ];
  await inTurn("b", work("0"));
  expect(done).toEqual(["0"]);
  gate.resolve();
  await Promise.all(all);
  expect(done).toEqual(["0", "1", "2", "3", "4", "5"]);
});

test("after a failure the next caller runs, and a caller that waits too long is refused and not run", async () => {
  const gate = Promise.withResolvers<void>();
  const failing = inTurn("a", async () => {
    await gate.promise;
    throw new Error("failed");
  });
  let ran = false;
  const late = inTurn("a", async () => (ran = true), { waitMs: 20 });
  await expect(late).rejects.toMatchObject({ code: "POOL_BUSY" });
  const next = inTurn("a", async () => "next");
  gate.resolve();
  await expect(failing).rejects.toThrow("failed");
  expect(await next).toBe("next");
  expect(ran).toBe(false);
  expect(await inTurn("a", async () => "again")).toBe("again");
});

test("callers that lock the same row leave the connections of the pool to others", async () => {
  const lock = () =>
    inTurn("row", () => mainPool().begin((sql) => sql`SELECT pg_advisory_xact_lock(${4713}::bigint), pg_sleep(0.05)`));
  let locked = false;
  const locking = Promise.all(Array.from({ length: 40 }, lock)).then(() => (locked = true));
  await mainPool().sql`SELECT 1`;
  expect(locked).toBe(false);
  await locking;
});
