import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { testDataDir } from "#test/data-dir.ts";
import { beginToNote, notesStatements, writeNoted } from "#test/statements.ts";
import { endPostgresWithThis } from "#test/when-ended.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly cluster: { readonly url: string; readonly template: string; readonly run: string | null };
  }
}

const folder = join(import.meta.dirname, "../../drizzle");

async function nameOfTemplate(): Promise<string> {
  const hash = createHash("sha256");
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  for (const file of [...files, "meta/_journal.json", "../lib/db/migrate.ts"]) hash.update(await readFile(join(folder, file)));
  return `template_${hash.digest("hex").slice(0, 16)}`;
}

/**
 * Makes a migrated database for this set of migrations and its runner if there is none, keeps it for later runs, and drops those
 * of other sets. No connection to it may stay open, or CREATE DATABASE, which copies it, would fail.
 */
async function makeTemplate(url: string, template: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const building = `building_${randomBytes(6).toString("hex")}`;
  try {
    await sql`SELECT pg_advisory_lock(1)`;
    const databases = await sql<{ name: string }[]>`SELECT datname AS name FROM pg_database`;
    if (databases.some(({ name }) => name === template)) return;
    await sql`CREATE DATABASE ${sql(building)}`;
    const at = new URL(url);
    at.pathname = building;
    await migrate({ url: at.href, environment: "sandbox", folder });
    await sql`ALTER DATABASE ${sql(building)} RENAME TO ${sql(template)}`;
    for (const { name } of databases) {
      if (/^(template_|building_)[0-9a-f]{12}/.test(name)) await sql`DROP DATABASE IF EXISTS ${sql(name)}`.catch(() => {});
    }
  } finally {
    await sql`DROP DATABASE IF EXISTS ${sql(building)}`;
    await sql.end();
  }
}

/** Drops the databases of killed runs: those older than 30 minutes and without connections. */
async function dropLeftovers(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const names = await sql<{ name: string }[]>`SELECT datname AS name FROM pg_database WHERE datname LIKE 'file\\_%'`;
    for (const { name } of names) {
      const startedAt = Number(name.split("_")[1]);
      if (Date.now() - startedAt > 30 * 60_000) await sql`DROP DATABASE IF EXISTS ${sql(name)}`.catch(() => {});
    }
  } finally {
    await sql.end();
  }
}

/** Starts one PostgreSQL for the whole run. Runs at the same time on one data directory share it; the last one stops it. */
async function startServer() {
  const start = () => startEmbedded({ dataDir: testDataDir(), durable: false, database: "tests" });
  let embedded = await start();
  if (!(await notesStatements(embedded.url))) {
    await embedded.stop();
    embedded = await start();
  }
  const keep = await endPostgresWithThis(embedded.directory);
  const run = (await notesStatements(embedded.url)) ? `run_${randomBytes(6).toString("hex")}` : null;
  if (run) await beginToNote(embedded.url, run);
  return { url: embedded.url, run, stop: () => embedded.stop().then(keep) };
}

/** The tests use the server of TEST_DATABASE_URL, whose role may make databases, if it is set. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"];
  const { url, run, stop } = given === undefined ? await startServer() : { url: given, run: null, stop: async () => {} };
  const template = await nameOfTemplate();
  await makeTemplate(url, template);
  await dropLeftovers(url);
  project.provide("cluster", { url, template, run });
  return async () => {
    try {
      if (run) await writeNoted(url, run, template);
    } finally {
      await stop();
    }
  };
}
