import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { eq, getTableName, sql } from "drizzle-orm";
import { describe, expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { account, user } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, PASSWORD } from "#test/identity.ts";

useDatabase();

/** Keeps the threads busy on which Node.js hashes: each opens a pipe that has no writer. Returns what frees them. */
async function holdThreads(): Promise<() => void> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-test-"));
  const pipe = join(folder, "pipe");
  await promisify(execFile)("mkfifo", [pipe]);
  const held = Array.from({ length: Number(process.env["UV_THREADPOOL_SIZE"] ?? 4) }, () => open(pipe, "r"));
  let isHeld = true;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    const writer = openSync(pipe, constants.O_RDWR);
    void Promise.all(held).then(async (readers) => {
      for (const reader of readers) await reader.close();
      closeSync(writer);
      await rm(folder, { recursive: true });
    });
  };
  onTestFinished(release);
  return release;
}

describe("signing up", () => {
  test("the password is hashed before the transaction begins", async () => {
    const release = await holdThreads();
    const signingUp = callAuth("/sign-up/email", { name: "Ada", email: "early@example.org", password: PASSWORD });
    const open = () =>
      database().execute(sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in%'`);
    // A hash is made by one of the threads, so no sign-up comes further than that.
    for (let times = 0; times < 30; times += 1) {
      expect([...(await open())]).toEqual([]);
      await pause(20);
    }
    release();
    expect((await signingUp).status).toBe(200);
    expect((await callAuth("/sign-in/email", { email: "early@example.org", password: PASSWORD })).status).toBe(200);
  });

  test.each([user, account])(
    "503 if the database is lost at any statement of a sign-up, of which nothing is left",
    async (table) => {
      const body = { name: "Ada", email: `${getTableName(table)}@example.org`, password: PASSWORD };
      await database().execute(sql`
      CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`);
      await database().execute(sql`CREATE TRIGGER kill BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION kill()`);
      const response = await callAuth("/sign-up/email", body);
      await database().execute(sql`DROP FUNCTION kill CASCADE`);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await database().select().from(user).where(eq(user.email, body.email))).toEqual([]);
      expect((await callAuth("/sign-up/email", body)).status).toBe(200);
      expect(await database().select().from(user).where(eq(user.email, body.email))).toHaveLength(1);
    },
  );
});
