import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "#test/free-port.ts";
import { whenEnded } from "#test/when-ended.ts";

/* PostgreSQL 15 of Debian. It does not run as root, so Debian's account "postgres" owns the files and runs the programs. */

const BIN = "/usr/lib/postgresql/15/bin";
const PASSWORD = "of-the-tests";
const run = promisify(execFile);

export type DebianPostgres = { readonly url: string; readonly data: string; stop(): Promise<void> };

/** Runs a program of PostgreSQL 15 as its account. */
const asPostgres = (program: string, ...words: readonly string[]) =>
  run("runuser", ["-u", "postgres", "--", join(BIN, program), ...words], { cwd: "/" });

/** As the embedded server of the tests: commits are fast, but a crash of the machine may destroy the data. */
const NOT_DURABLE = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off";

type StartOptions = { readonly durable?: boolean };

/** Starts the server whose files are in the folder `data`, on a free port. */
export async function startIn(data: string, { durable = true }: StartOptions = {}): Promise<DebianPostgres> {
  const port = await freePort();
  const settings = `-p ${port} -k ${data} ${durable ? "" : NOT_DURABLE}`;
  await asPostgres("pg_ctl", "start", "-w", "-D", data, "-l", join(data, "../log"), "-o", settings);
  const keep = whenEnded("runuser", "-u", "postgres", "--", join(BIN, "pg_ctl"), "stop", "-m", "immediate", "-D", data);
  return {
    url: `postgres://countersign:${PASSWORD}@127.0.0.1:${port}/postgres`,
    data,
    async stop() {
      await asPostgres("pg_ctl", "stop", "-m", "fast", "-w", "-D", data);
      keep();
    },
  };
}

/** A new server in a folder that its account can enter. Its texts are sorted by the rules of a language, as people often have it. */
export async function newPostgres(folder: string, options: StartOptions = {}): Promise<DebianPostgres> {
  const home = join(folder, "postgresql-15");
  await mkdir(home);
  await run("chown", ["postgres", home]);
  const password = join(home, "password");
  await writeFile(password, PASSWORD);
  const sorted = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"];
  const secure = ["--username=countersign", "--auth=scram-sha-256", `--pwfile=${password}`];
  await asPostgres("initdb", `--pgdata=${join(home, "data")}`, ...secure, ...sorted, "--no-sync");
  return startIn(join(home, "data"), options);
}
