import { describe, expect, test } from "vitest";
import { lastCommits, mainPool } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

const sql = () => mainPool().sql;

/** Whether `work` counts as a commit. */
async function isSeen(work: () => PromiseLike<unknown>): Promise<boolean> {
  const began = performance.now();
  await Promise.resolve(work()).catch(() => {});
  return lastCommits().committedAt >= began;
}

const insert = (sql: ReturnType<typeof mainPool>["sql"]) =>
  sql`INSERT INTO process_commits VALUES (${crypto.randomUUID()}, clock_timestamp())`;
const failed = () =>
  mainPool().begin(async (c) => {
    await insert(c);
    throw new Error("The work failed.");
  });
const refused = (code: string) => sql().unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`);

describe("the last commit", () => {
  test.each([
    ["a transaction that changed rows", () => mainPool().begin(insert)],
    [
      "statements that are sent together with their COMMIT",
      () => mainPool().use((c) => Promise.all([c.unsafe("BEGIN; SELECT 1"), insert(c), c`COMMIT`])),
    ],
    ["a single statement that changed rows", () => insert(sql())],
    [
      "a statement that changed rows behind a WITH",
      () => sql()`WITH x AS (SELECT 1) UPDATE process_commits SET process_id = process_id`,
    ],
  ])("is %s", async (_what, work) => {
    expect(await isSeen(work)).toBe(true);
  });

  test.each([
    [
      "a transaction that changed nothing",
      () => mainPool().begin((c) => c`UPDATE process_commits SET process_id = '' WHERE false`),
    ],
    ["a single statement that changed nothing", () => sql()`DELETE FROM process_commits WHERE false`],
    [
      "a transaction that waits for no standby",
      () =>
        mainPool().begin(async (c) => {
          await c`SELECT set_config('synchronous_commit', 'off', true)`;
          await insert(c);
        }),
    ],
    ["a read", () => sql()`SELECT process_id FROM process_commits`],
    ["a transaction that failed", failed],
    ["a read after a transaction that failed", () => failed().catch(() => sql()`SELECT 1`)],
  ])("is not %s", async (_what, work) => {
    expect(await isSeen(work)).toBe(false);
  });

  test("is the next transaction after one that waits for no standby", async () => {
    await mainPool().use(async (c) => {
      await c.unsafe("BEGIN; SET LOCAL synchronous_commit = off");
      await c`ROLLBACK`;
      expect(await isSeen(() => Promise.all([c`BEGIN`, insert(c), c`COMMIT`]))).toBe(true);
    });
  });

  test.each([
    ["25006", true],
    ["53100", true],
    ["23505", false],
  ])("SQLSTATE %s is a refusal: %s", async (code, is) => {
    const began = performance.now();
    await Promise.resolve(refused(code)).catch(() => {});
    expect(lastCommits().refusedAt >= began).toBe(is);
  });
});
