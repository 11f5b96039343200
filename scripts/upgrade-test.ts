/**
 * `npm run upgrade-test`: runs the release before and this commit side by side on one database.
 * `-- --from COMMIT` takes another commit as the release before. `-- --seconds N` sets how long the load runs after each change (4).
 * `-- --rows N` sets the rows of the tables for which the time of each migration is printed (1,000,000).
 * `-- --only PART` runs a part: `upgrade` replaces the old release, `joined` begins with the new one, `rows` compares what both answer,
 * and `locks` prints how long payments wait for a migration.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import postgres from "postgres";
import { startEmbedded } from "#lib/db/embedded.ts";
import { tellLockTimes } from "./upgrade/lock-times.ts";
import { makeReleases, wrongJudgements } from "./upgrade/releases.ts";
import { compareRows } from "./upgrade/rows.ts";
import { joined, upgrade, type Order } from "./upgrade/side-by-side.ts";

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    seconds: { type: "string", default: "4" },
    rows: { type: "string", default: "1000000" },
    only: { type: "string" },
  },
});

const say = (sentence: string): void => console.log(sentence);
const closers: (() => Promise<void>)[] = [];
const closing = (close: () => Promise<void>): void => void closers.push(close);

async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
}

const interrupted = new Promise<number>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(130));
});

async function run(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-upgrade-"));
  closing(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  say("The release before and this commit, with planted migrations, are being built.");
  const releases = await makeReleases(folder, values.from);
  const wrong = await wrongJudgements(releases);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  say("The rule for migrations allows the planted ones, and refuses the forbidden one.");
  const database = await startEmbedded({ dataDir: join(folder, "postgres"), database: "countersign" });
  closing(async () => {
    await database.stop();
    await rm(database.directory, { recursive: true, force: true });
  });
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  closing(() => sql.end());
  const orderOn = async (name: string): Promise<Order> => {
    await sql`CREATE DATABASE ${sql(name)}`;
    const databaseUrl = Object.assign(new URL(database.url), { pathname: name }).href;
    const own = join(folder, name);
    await mkdir(own);
    return { ...releases, databaseUrl, folder: own, seconds: Number(values.seconds), say, closing };
  };
  const parts = { upgrade, joined, rows: compareRows, locks: (order: Order) => tellLockTimes(order, Number(values.rows)) };
  for (const [name, part] of Object.entries(parts))
    if (values.only === undefined || values.only === name) await part(await orderOn(name));
  say("Every promise was kept.");
  return 0;
}

const code = await Promise.race([run(), interrupted]).catch((error: unknown) => {
  console.error(error);
  return 1;
});
await closeAll();
process.exit(code);
