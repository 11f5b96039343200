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
        .replace(/;? *$/, "")
        .trim(),
    )
    .filter(Boolean);

const namesIn = (list = ""): string[] => list.split(",").map((name) => name.replaceAll('"', "").trim());

/** The primary keys of tables, by name. */
function keysIn(texts: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, readonly string[]>();
  for (const one of texts.flatMap(statementsOf)) {
    const [, table] = /^CREATE TABLE "(\w+)"/i.exec(one) ?? [];
    const key = /"(\w+)" \S+ PRIMARY KEY/i.exec(one)?.[1] ?? /PRIMARY KEY\s?\(([^)]*)\)/i.exec(one)?.[1];
    if (table !== undefined && key !== undefined) keys.set(table, namesIn(key));
  }
  return keys;
}

/** An index on the primary key and more refuses nothing that the primary key admits. */
function isWiderKey(one: string, keys: ReadonlyMap<string, readonly string[]>): boolean {
  const [, table = "", columns] = /^CREATE UNIQUE INDEX .*? ON "(\w+)" USING btree \(([\w", ]*)\)$/i.exec(one) ?? [];
  const key = keys.get(table);
  return key !== undefined && key.every((column) => namesIn(columns).includes(column));
}

/** A check that is true while the columns that the same migration adds are null, as in the rows of an older release. */
function admitsOldRows(one: string, statements: readonly string[]): boolean {
  const checked = /^ALTER TABLE "(\w+)" ADD CONSTRAINT "\w+" CHECK \(num_nulls\(([\w, ]+)\) = (\d+) OR .*\) NOT VALID$/i.exec(
    one,
  );
  const columns = namesIn(checked?.[2]);
  return (
    Number(checked?.[3]) === columns.length &&
    columns.every((name) => statements.some((other) => other.startsWith(`ALTER TABLE "${checked?.[1]}" ADD COLUMN "${name}" `)))
  );
}

/**
 * The statements after which an older release may fail. Tables that the same migration creates are unknown to older releases.
 * @param others all migrations, which say what the primary keys are
 */
export function removals(text: string, others: readonly string[] = []): string[] {
  const statements = statementsOf(text);
  const keys = keysIn(others);
  const made = new Set(statements.filter((one) => /^CREATE TABLE/i.test(one)).map((one) => TABLE.exec(one)?.[1]));
  const tableOf = (one: string): string | undefined => TABLE.exec(one.replace(/^CREATE UNIQUE INDEX .*? ON /i, ""))?.[1];
  const isMade = (table: string | undefined) => table !== undefined && made.has(table);
  const expands = (one: string) => isMade(tableOf(one)) || isWiderKey(one, keys) || admitsOldRows(one, statements);
  return statements.filter((one) => REMOVES.some((pattern) => pattern.test(one)) && !expands(one));
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
    const [removal] = released.some((one) => one.file === file) ? [] : removals(text, Object.values(migrations));
    const serves = servesOf(text);
    if (removal === undefined || releases.some(({ version }) => version === serves)) return [];
    return [
      `${file} removes what ${last} may read (${removal.slice(0, 80)}). Expand in one release, and remove in a later one, ` +
        `in a file that begins with "-- serves: " and a release that does not read it.`,
    ];
  });
  return [...changed, ...inTransaction, ...removing];
}
