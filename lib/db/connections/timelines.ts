import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { ServerConnection } from "#lib/db/connection.ts";
import { NotPrimary } from "#lib/db/failure.ts";
import { databaseHosts } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

/** A primary. Its standbys and backups have the same `system`, and each promotion begins a timeline with the next number. */
export type Primary = { readonly system: string; readonly timeline: number };

/** What is worth a line in the log. */
export type PrimaryEvent = { readonly message: string; readonly cause?: unknown };

type Known = {
  /** The highest timeline that was seen of each system; null until the file was read. */
  highest: Map<string, number> | null;
  /** The primary that was connected to last, by DATABASE_URL. */
  readonly newest: Map<string, Primary>;
  /** All open connections whose server tells its timeline. */
  readonly open: Map<ServerConnection, { readonly url: string; readonly primary: Primary }>;
  tell: (event: PrimaryEvent) => void;
};

/** Not of the environment, as `countersign-server migrate` has no other setting. */
const file = (): string => join(process.env["DATA_DIR"] || ".data", "timelines.json");

const Content = z.record(z.string().regex(/^\d+$/), z.int().min(1));

/** An old primary has its own rows, so what was seen of the newer one is kept outside of the database. */
function readFile(): Record<string, number> {
  try {
    return Content.parse(JSON.parse(readFileSync(file(), "utf8")));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return {};
    throw new Error(
      `${resolve(file())} does not tell which promotions were seen. Make it readable, or remove it if the database is the newest primary.`,
      { cause },
    );
  }
}

const known = (): Known =>
  perProcess("db/connections/timelines", () => ({
    highest: null,
    newest: new Map(),
    open: new Map(),
    tell: () => {},
  }));

/** Processes that share DATA_DIR write the same file, so each keeps what the others have seen. */
function writeFile(highest: ReadonlyMap<string, number>, tell: Known["tell"]): void {
  try {
    const draft = `${file()}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    mkdirSync(join(file(), ".."), { recursive: true });
    const all = readFile();
    for (const [system, timeline] of highest) all[system] = Math.max(timeline, all[system] ?? 0);
    writeFileSync(draft, `${JSON.stringify(all)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, file());
  } catch (cause) {
    tell({
      message: `${resolve(file())} cannot be written, so after a restart this process would accept an old primary.`,
      cause,
    });
  }
}

const oldPrimary = (timeline: number, seen: number): NotPrimary =>
  new NotPrimary(
    "old primary",
    `This is an old primary: its timeline is ${timeline}, and timeline ${seen} was seen. Let it become a standby of the newer one. ` +
      `Only if you went back on purpose, stop all processes and remove ${resolve(file())}.`,
  );

/**
 * Ends the connections of `url` to an earlier primary: what is committed there may be lost.
 * @throws NotPrimary if a newer primary was seen, or if the hosts of `url` belong to different installations, and an Error if the
 * file cannot be read
 */
export function admit(connection: ServerConnection, url: string, primary: Primary): void {
  const { newest, open, tell } = known();
  const highest = (known().highest ??= new Map(Object.entries(readFile())));
  const { system, timeline } = primary;
  const seen = highest.get(system) ?? 0;
  if (timeline < seen) throw oldPrimary(timeline, seen);
  const before = newest.get(url);
  if (before && before.system !== system && databaseHosts(url).length > 1)
    throw new NotPrimary("other installation", "The hosts of DATABASE_URL belong to different installations of PostgreSQL.");
  newest.set(url, primary);
  highest.set(system, timeline);
  // Without a promotion there is nothing to remember.
  if (timeline > seen && timeline > 1) writeFile(highest, tell);
  open.set(connection, { url, primary });
  const isOther = (one: Primary): boolean => one.system !== system || one.timeline !== timeline;
  if (before && isOther(before)) {
    const what = before.system === system ? "a new primary" : "become another installation of PostgreSQL, such as a restored one";
    tell({ message: `The database has ${what}: timeline ${timeline}, before it ${before.timeline}.` });
  }
  for (const [other, its] of open) if (its.url === url && isOther(its.primary)) other.end("The database has a new primary.");
}

export const noteEnd = (connection: ServerConnection): void => void known().open.delete(connection);

/** The primary that the connections of this process go to, if it tells its timeline. */
export const primaryOf = (url: string): Primary | null => known().newest.get(url) ?? null;

export const forgetPrimary = (url: string): void => void known().newest.delete(url);

export function tellPrimaries(tell: (event: PrimaryEvent) => void): void {
  known().tell = tell;
}
