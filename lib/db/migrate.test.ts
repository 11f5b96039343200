import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import { closePools, pool } from "#lib/db/client.ts";
import { migrate, schemaIsCurrent } from "#lib/db/migrate.ts";
import { createDatabase, useDatabase } from "#test/database.ts";

const database = useDatabase();

describe("migrate", () => {
  test("two processes that start at once apply every migration once", async () => {
    const empty = await createDatabase({ empty: true });
    const counts = await Promise.all([1, 2].map(() => migrate({ url: empty.url, environment: "sandbox" })));
    // One may apply what comes before a migration that is applied alone, and the other what comes after it.
    const { entries } = JSON.parse(await readFile("drizzle/meta/_journal.json", "utf8")) as {
      readonly entries: readonly unknown[];
    };
    expect(counts[0]! + counts[1]!).toBe(entries.length);
    expect(await migrate({ url: empty.url, environment: "sandbox" })).toBe(0);
    await empty.drop();
  });

  test("a database belongs to one environment", async () => {
    await expect(migrate({ url: database().url, environment: "production" })).rejects.toThrow(
      /belongs to the sandbox environment and ENVIRONMENT is production/,
    );
  });

  test.each([
    ["changed", "hash = 'other'"],
    ["made again", "created_at = created_at - 1"],
  ])("a migration that was %s after it was applied is refused", async (_, change) => {
    const other = await createDatabase();
    const sql = postgres(other.url, { max: 1 });
    await sql.unsafe(`UPDATE migrations SET ${change} WHERE created_at = (SELECT min(created_at) FROM migrations)`);
    await sql.end();
    await expect(migrate({ url: other.url, environment: "sandbox" })).rejects.toThrow(/only go forward/);
    await other.drop();
  });

  test("a migration that fails changes nothing", async () => {
    const other = await createDatabase({ empty: true });
    const sql = postgres(other.url, { max: 1 });
    await sql`CREATE TABLE installation (in_the_way int)`;
    await expect(migrate({ url: other.url, environment: "sandbox" })).rejects.toThrow(/already exists/);
    expect(await sql`SELECT 1 FROM pg_tables WHERE tablename = 'mandates'`).toHaveLength(0);
    await sql.end();
    await other.drop();
  });
});

/** A folder with all migrations and one more. */
async function withMigration(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp("drizzle", folder, { recursive: true });
  const journalFile = join(folder, "meta/_journal.json");
  const journal = JSON.parse(await readFile(journalFile, "utf8")) as { entries: { idx: number; when: number; tag: string }[] };
  const last = journal.entries.at(-1)!;
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: "9999_next" });
  await writeFile(journalFile, JSON.stringify(journal));
  await writeFile(join(folder, "9999_next.sql"), text);
  return folder;
}

describe("a migration that begins with -- alone", () => {
  const INDEX = `-- alone\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "planted" ON "public"."twice" ("name");`;
  const options = async () => {
    const other = await createDatabase();
    onTestFinished(() => other.drop());
    return { url: other.url, environment: "sandbox", folder: await withMigration(INDEX), release: "0.3.0" } as const;
  };

  test("is repeated after it has failed, and leaves no invalid index", async () => {
    const given = await options();
    const sql = postgres(given.url, { max: 1, onnotice: () => {} });
    const valid = async () => (await sql`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('planted')`).flat();
    await sql`CREATE TABLE twice AS SELECT 'a' AS name FROM generate_series(1, 2)`;
    await expect(migrate(given)).rejects.toThrow(/could not create unique index/);
    expect(await valid()).toEqual([{ indisvalid: false }]);
    await sql`DELETE FROM twice WHERE ctid = '(0,1)'`;
    expect(await migrate(given)).toBe(1);
    expect(await valid()).toEqual([{ indisvalid: true }]);
    expect(await migrate(given)).toBe(0);
    await sql.end();
  });

  test("is applied once by processes that start at once, also beside one that waits for the lock of migrations", async () => {
    const given = await options();
    const sql = postgres(given.url, { max: 2, onnotice: () => {} });
    await sql`CREATE TABLE twice AS SELECT 'a' AS name`;
    // As a process of 0.2.0, which waits for the lock in a statement.
    const counts = await Promise.all([
      migrate(given),
      migrate(given),
      migrate({ ...given, folder: "drizzle", release: "0.2.0" }),
    ]);
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    await sql.end();
  });

  test("waits for payments under way, and lets later ones pass", async () => {
    const given = await options();
    const sql = postgres(given.url, { max: 3, onnotice: () => {} });
    await sql`CREATE TABLE twice AS SELECT 'a' AS name`;
    const early = await sql.reserve();
    await early`BEGIN`;
    await early`INSERT INTO twice VALUES ('b')`;
    const applying = migrate(given);
    await expect
      .poll(
        async () => (await sql`SELECT 1 FROM pg_stat_activity WHERE query LIKE '-- alone%' AND wait_event_type = 'Lock'`).length,
      )
      .toBe(1);
    await sql`INSERT INTO twice VALUES ('c')`;
    await early`COMMIT`;
    early.release();
    expect(await applying).toBe(1);
    await sql.end();
  });
});

const COLUMNS = `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, 2`;
const INDEXES = `SELECT replace(indexdef, $1 || '.', '') AS indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY 1`;
const CONSTRAINTS = `
  SELECT conrelid::regclass::text, replace(pg_get_constraintdef(oid), $1 || '.', '') AS definition FROM pg_constraint
  WHERE connamespace = to_regnamespace($1) ORDER BY 1, 2`;
const TRIGGERS = `SELECT event_object_table, trigger_name FROM information_schema.triggers WHERE trigger_schema = $1 ORDER BY 1, 2`;

describe("the list of migrations", () => {
  test("is in the schema of the tables, and every migration can be applied in a schema of another name", async () => {
    const other = await createDatabase();
    const options = { url: other.url, environment: "sandbox" } as const;
    expect(await migrate({ ...options, schema: "cell_two" })).toBeGreaterThan(0);
    expect(await migrate({ ...options, schema: "cell_two" })).toBe(0);
    for (const what of [COLUMNS, INDEXES, CONSTRAINTS, TRIGGERS]) {
      const of = async (schema: string) => {
        const sql = postgres(other.url, { max: 1, connection: { search_path: schema } });
        const rows = await sql.unsafe(what, [schema]);
        await sql.end();
        return [...rows];
      };
      expect(await of("cell_two")).toEqual(await of("public"));
    }
    await other.drop();
  });

  test("of an earlier commit, which was one for the whole database, is taken over", async () => {
    const other = await createDatabase();
    const sql = postgres(other.url, { max: 1 });
    await sql`CREATE SCHEMA drizzle`;
    await sql`CREATE TABLE drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
    await sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT hash, created_at FROM migrations ORDER BY created_at`;
    await sql`DROP TABLE migrations`;
    expect(await migrate({ url: other.url, environment: "sandbox" })).toBe(0);
    const [lists] = await sql`
      SELECT (SELECT array_agg(hash ORDER BY created_at) FROM migrations) = (SELECT array_agg(hash ORDER BY id) FROM drizzle.__drizzle_migrations) AS same`;
    expect(lists).toEqual({ same: true });
    await sql.end();
    await other.drop();
  });
});

describe("a release", () => {
  test("uses a database that a newer release has expanded", async () => {
    const other = await createDatabase();
    const options = { url: other.url, environment: "sandbox" } as const;
    const expanding = await withMigration(`ALTER TABLE "mandates" ADD COLUMN "planted" text;`);
    expect(await migrate({ ...options, folder: expanding, release: "0.3.0" })).toBe(1);
    expect(await migrate({ ...options, release: "0.2.0" })).toBe(0);
    await other.drop();
  });

  test("refuses a database from which a newer release removed something, and says which release can read it", async () => {
    const other = await createDatabase();
    const options = { url: other.url, environment: "sandbox" } as const;
    const removing = await withMigration(`-- serves: 0.10.0\nALTER TABLE "mandates" DROP COLUMN "name";`);
    expect(await migrate({ ...options, folder: removing, release: "0.11.0" })).toBe(1);
    await expect(migrate({ ...options, release: "0.9.0" })).rejects.toThrow(
      "changed by Countersign 0.10.0 or a newer release, and 0.9.0 can no longer read it. Start 0.10.0 or newer.",
    );
    expect(await migrate({ ...options, folder: removing, release: "0.10.0" })).toBe(0);
    await other.drop();
  });

  test("refuses a database that is too old if its role may not migrate, and needs no such right otherwise", async () => {
    const other = await createDatabase();
    const sql = postgres(other.url, { max: 1 });
    const role = `reader_${randomBytes(6).toString("hex")}`;
    // Earlier commits have left a schema in which the role has no right.
    await sql.unsafe(
      `CREATE ROLE ${role} LOGIN PASSWORD 'reads'; CREATE SCHEMA drizzle; CREATE TABLE drizzle.__drizzle_migrations ()`,
    );
    const url = Object.assign(new URL(other.url), { username: role, password: "reads" }).href;
    await expect(migrate({ url, environment: "sandbox" })).rejects.toThrow(
      "lacks a right. Grant it SELECT, INSERT, UPDATE and DELETE",
    );
    const empty = await createDatabase({ empty: true });
    const newUrl = Object.assign(new URL(empty.url), { username: role, password: "reads" }).href;
    await expect(migrate({ url: newUrl, environment: "sandbox" })).rejects.toThrow(
      /it lacks \d+ of the migrations.* Run "npm run migrate" with/,
    );
    await empty.drop();
    await sql.unsafe(`GRANT SELECT ON migrations TO ${role}; GRANT SELECT, INSERT ON installation TO ${role}`);
    expect(await migrate({ url, environment: "sandbox" })).toBe(0);
    for (const text of [
      `ALTER TABLE "mandates" ADD COLUMN "planted" text;`,
      `-- alone\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "planted" ON "mandates" ("name");`,
    ])
      await expect(migrate({ url, environment: "sandbox", folder: await withMigration(text), release: "0.3.0" })).rejects.toThrow(
        "too old for Countersign 0.3.0: it lacks 1 of the migrations",
      );
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await sql.end();
    await other.drop();
  });
});

describe("schemaIsCurrent", () => {
  test("is false once a newer release has removed what this one reads", async () => {
    await pool()`UPDATE migrations SET serves = '99.0.0' WHERE created_at = (SELECT min(created_at) FROM migrations)`;
    expect(await schemaIsCurrent()).toBe(false);
    await pool()`UPDATE migrations SET serves = NULL`;
  });

  test("a migrated database is current, one without the newest migration is not", async () => {
    expect(await schemaIsCurrent()).toBe(true);
    await pool()`DELETE FROM migrations WHERE created_at = (SELECT max(created_at) FROM migrations)`;
    expect(await schemaIsCurrent()).toBe(false);
    await closePools();
  });
});

describe("the triggers against changes", () => {
  test.each(["audit_entries", "resolutions", "authorizations"])("%s refuses TRUNCATE", async (table) => {
    const sql = postgres(database().url, { max: 1 });
    await expect(sql.unsafe(`TRUNCATE ${table}`)).rejects.toThrow(/append-only/);
    await sql.end();
  });
});
