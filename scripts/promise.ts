import { createHash } from "node:crypto";
import { isAlone, unrepeatable } from "#lib/db/apply-alone.ts";
import { servesOf } from "#lib/db/migrate.ts";

/** An entry of releases.json. */
export type Release = {
  readonly version: string;
  /** SHA-256 of each migration, by its file name. */
  readonly migrations: Readonly<Record<string, string>>;
  /** The commit that was released. It is added in the commit after that one. */
  readonly commit?: string;
};

type Migrations = Readonly<Record<string, string>>;

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

const TABLE = /"(?:public"\.")?(\w+)"/;
const REMOVES = [
  /^DROP (?:TABLE|TYPE|VIEW|MATERIALIZED VIEW|SEQUENCE|FUNCTION|SCHEMA)\b/i,
  /^(?:ALTER TYPE|REVOKE|DO)\b/i,
  /^ALTER TABLE .*\b(?:DROP COLUMN|RENAME|SET NOT NULL|SET DATA TYPE|DROP CONSTRAINT|ALTER COLUMN \S+ TYPE|DROP DEFAULT)\b/i,
  /^ALTER TABLE .*\bADD (?:CONSTRAINT|CHECK|PRIMARY KEY|UNIQUE|FOREIGN KEY)\b/i,
  /^ALTER TABLE .*\bADD COLUMN\b(?=.*\bNOT NULL\b)(?!.*\bDEFAULT\b)/i,
  // An upsert of an older release fails without its unique index or constraint.
  /^(?:CREATE UNIQUE|DROP) INDEX\b/i,
  /^(?:TRUNCATE|DELETE FROM)\b/i,
];

const statementsOf = (text: string): string[] =>
  text
    .split(/--> statement-breakpoint|;\s*\n/)
    .map((statement) =>
      statement
        .replace(/^\s*--.*$/gm, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter(Boolean);

/** The statements after which an older release may fail. Tables that the same migration creates are unknown to older releases. */
export function removals(text: string): string[] {
  const statements = statementsOf(text);
  const made = new Set(statements.filter((one) => /^CREATE TABLE/i.test(one)).map((one) => TABLE.exec(one)?.[1]));
  const tableOf = (one: string): string | undefined => TABLE.exec(one.replace(/^CREATE UNIQUE INDEX .*? ON /i, ""))?.[1];
  const isMade = (table: string | undefined) => table !== undefined && made.has(table);
  return statements.filter((one) => REMOVES.some((pattern) => pattern.test(one)) && !isMade(tableOf(one)));
}

/**
 * Where migrations break the promise for data: a released file never changes, and what a release reads is removed only by a
 * migration that names a later release, which exists already and no longer reads it (`-- serves: 0.3.0` in its first line).
 */
export function brokenPromises(migrations: Migrations, releases: readonly Release[]): string[] {
  const released = releases.flatMap(({ version, migrations: hashes }) =>
    Object.entries(hashes).map(([file, hash]) => ({ file, hash, version })),
  );
  const changed = released.flatMap(({ file, hash, version }) => {
    const text = migrations[file];
    if (text === undefined) return [`${file} was released with ${version} and is gone.`];
    return hashOf(text) === hash ? [] : [`${file} was released with ${version} and has changed.`];
  });
  const inTransaction = Object.entries(migrations).flatMap(([file, text]) => {
    const [wrong] = isAlone(text) ? unrepeatable(text.split("--> statement-breakpoint")) : [];
    return wrong === undefined ? [] : [`${file} is applied alone, and cannot be repeated after a crash: ${wrong.slice(0, 80)}`];
  });
  const last = releases.at(-1)?.version;
  if (last === undefined) return inTransaction;
  const removing = Object.entries(migrations).flatMap(([file, text]) => {
    const [removal] = released.some((one) => one.file === file) ? [] : removals(text);
    const serves = servesOf(text);
    if (removal === undefined || releases.some(({ version }) => version === serves)) return [];
    return [
      `${file} removes what ${last} may read (${removal.slice(0, 80)}). Expand in one release, and remove in a later one, ` +
        `in a file that begins with "-- serves: " and a release that does not read it.`,
    ];
  });
  return [...changed, ...inTransaction, ...removing];
}
