import { setTimeout as pause } from "node:timers/promises";
import type { Sql } from "#lib/db/sql.ts";

/** A lock of the session. Nobody waits for it in a statement, because CREATE INDEX CONCURRENTLY waits for every running statement. */
const ALONE = 0x616c6f6e;
const ASKED_EVERY_MS = 500;

/** The statements that payments hardly wait for, and that can be repeated after a crash. */
const REPEATABLE =
  /^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS|DROP INDEX CONCURRENTLY IF EXISTS|ALTER TABLE \S+ VALIDATE CONSTRAINT|CREATE OR REPLACE VIEW)\s/i;
const MADE = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS\s+"?(\w+)/i;

const withoutComments = (statement: string): string => statement.replace(/^\s*--.*$/gm, "").trim();

/** A migration that begins with "-- alone" is applied outside of a transaction, statement by statement. */
export const isAlone = (text: string): boolean => /^-- alone$/m.test(text.split(/^(?!--)/m)[0] ?? "");

/** The statements of such a migration that may not stand in it. */
export const unrepeatable = (statements: readonly string[]): string[] =>
  statements.map(withoutComments).filter((one) => one !== "" && !REPEATABLE.test(one));

/** An index whose making was interrupted is INVALID, keeps its name, and costs every write. */
async function dropInvalid(sql: Sql, index: string): Promise<void> {
  const [found] = await sql<{ invalid: boolean }[]>`
    SELECT NOT indisvalid AS invalid FROM pg_index WHERE indexrelid = to_regclass(${`"${index}"`})`;
  if (found?.invalid === true) await sql.unsafe(`DROP INDEX CONCURRENTLY "${index}"`);
}

/** `isApplied` is asked under the lock, because another process may have been first. Returns whether this one applied it. */
export async function applyAlone(
  sql: Sql,
  statements: readonly string[],
  { isApplied, note }: { readonly isApplied: () => Promise<boolean>; readonly note: () => Promise<unknown> },
): Promise<boolean> {
  const tryLock = () => sql<{ ours: boolean }[]>`SELECT pg_try_advisory_lock(${ALONE}::bigint) AS ours`;
  while (!(await tryLock())[0]?.ours) await pause(ASKED_EVERY_MS);
  if (await isApplied()) return false;
  for (const statement of statements) {
    const [, index] = MADE.exec(withoutComments(statement)) ?? [];
    if (index !== undefined) await dropInvalid(sql, index);
    await sql.unsafe(statement);
  }
  await note();
  await sql`SELECT pg_advisory_unlock(${ALONE}::bigint)`;
  return true;
}
