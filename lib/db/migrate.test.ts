import postgres from "postgres";
import { describe, expect, test } from "vitest";
import { closePools, pool } from "#lib/db/client.ts";
import { migrate, schemaIsCurrent } from "#lib/db/migrate.ts";
import { createDatabase, useDatabase } from "#test/database.ts";

const database = useDatabase();

describe("migrate", () => {
  test("two processes that start at once apply every migration once", async () => {
    const empty = await createDatabase({ empty: true });
    const counts = await Promise.all([1, 2].map(() => migrate({ url: empty.url, environment: "sandbox" })));
    expect(counts.toSorted()[0]).toBe(0);
    expect(counts.toSorted()[1]).toBeGreaterThan(0);
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
    await sql.unsafe(`UPDATE drizzle.__drizzle_migrations SET ${change} WHERE id = 1`);
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

describe("schemaIsCurrent", () => {
  test("a migrated database is current, one without the newest migration is not", async () => {
    expect(await schemaIsCurrent()).toBe(true);
    await pool()`DELETE FROM drizzle.__drizzle_migrations WHERE id = (SELECT max(id) FROM drizzle.__drizzle_migrations)`;
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
