import { expect, test } from "vitest";
import { mainPool } from "#lib/db/client.ts";
import { databaseAway, outcomeUnknown } from "#lib/db/failure.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

test("a prepared statement whose result a migration changed causes one 503 and a new connection", async () => {
  const pool = mainPool();
  await pool.sql`CREATE TABLE changing (a integer)`;
  const read = "SELECT *, pg_backend_pid() AS pid FROM changing WHERE a > $1";
  await pool.sql`INSERT INTO changing VALUES (9)`;
  const pidNow = async () => (await pool.begin((sql) => sql.unsafe<{ pid: number }[]>(read, [1])))[0]!.pid;
  for (let use = 0; use < 4; use += 1) await pidNow();
  const before = await pidNow();
  await pool.sql`ALTER TABLE changing ALTER COLUMN a TYPE bigint`;
  const refused: unknown = await pidNow().catch((error: unknown) => error);
  expect([databaseAway(refused), outcomeUnknown(refused)]).toEqual([true, false]);
  expect(await pidNow()).not.toBe(before);
});
