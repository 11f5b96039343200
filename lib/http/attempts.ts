import type { Sql } from "#lib/db/sql.ts";
import { takeAttempt } from "#lib/http/attempts-store.ts";
import { Problem } from "#lib/problem.ts";

const WINDOW_SECONDS = 60;

/**
 * Counts one try of what could be guessed, in PostgreSQL, so that more processes are not more tries. In a transaction of its own: a
 * refusal must not undo the count.
 * @throws Problem rate_limited
 */
export async function countAttempt(what: string, subjectId: string, max: number, on?: Sql): Promise<void> {
  if ((await takeAttempt(`${what}:${subjectId}`, WINDOW_SECONDS, on)) <= max) return;
  throw new Problem("rate_limited", {
    detail: "Too many tries. Wait a minute and try again.",
    retryAfterSeconds: WINDOW_SECONDS,
    nextActions: [{ type: "retry_later", label: "Wait and try again" }],
  });
}
