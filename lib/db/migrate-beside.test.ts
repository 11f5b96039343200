import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { createDatabase } from "#test/database.ts";

/** The number of migrations of 0.2.0, whose processes still pay while a newer release migrates. */
const MIGRATIONS_OF_0_2_0 = 5;
const views = ["reservations", "mandate_ledger", "audit_events"];

async function oldMigrations(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp("drizzle", folder, { recursive: true });
  const file = join(folder, "meta/_journal.json");
  const { entries, ...rest } = JSON.parse(await readFile(file, "utf8")) as { readonly entries: readonly unknown[] };
  await writeFile(file, JSON.stringify({ ...rest, entries: entries.slice(0, MIGRATIONS_OF_0_2_0) }));
  return folder;
}

test.each(["authorizations", "changed_reservations", "resolutions", "audit_entries"])(
  "what reads a view while a migration waits for %s is no deadlock",
  async (table) => {
    const { url, drop } = await createDatabase({ empty: true });
    onTestFinished(drop);
    await migrate({ url, environment: "sandbox", folder: await oldMigrations(), release: "0.2.0" });
    const sql = postgres(url, { max: 5, onnotice: () => {} });
    const payment = await sql.reserve();
    await payment`BEGIN`;
    await payment`SELECT FROM ${sql(table)}`;
    let isMigrated = false;
    const migrating = migrate({ url, environment: "sandbox" }).finally(() => (isMigrated = true));
    const waiting = async () =>
      (await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).length;
    await expect.poll(async () => isMigrated || (await waiting()) > 0, { timeout: 20_000 }).toBe(true);
    const reading = Promise.all(views.map((view) => sql`SELECT FROM ${sql(view)}`));
    // Long enough that they wait too, if the migration is in their way.
    await Promise.race([reading, pause(200)]);
    await payment`COMMIT`;
    payment.release();
    await Promise.all([reading, migrating]);
    await sql.end();
  },
);
