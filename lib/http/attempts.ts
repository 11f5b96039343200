import type { Sql } from "#lib/db/sql.ts";
import { takeAttempt } from "#lib/http/attempts-store.ts";
import { Problem } from "#lib/problem.ts";

const MINUTE_SECONDS = 60;

type Window = { readonly on?: Sql; readonly windowSeconds?: number };

/** Counts for all processes together, and in no transaction that a refusal undoes. @throws Problem rate_limited */
export async function countAttempt(
  what: string,
  subjectId: string,
  max: number,
  { on, windowSeconds = MINUTE_SECONDS }: Window = {},
): Promise<void> {
  if ((await takeAttempt(`${what}:${subjectId}`, windowSeconds, on)) <= max) return;
  const wait = windowSeconds === MINUTE_SECONDS ? "a minute" : `${windowSeconds / MINUTE_SECONDS} minutes`;
  throw new Problem("rate_limited", {
    detail: `Too many tries. Wait ${wait} and try again.`,
    retryAfterSeconds: windowSeconds,
    nextActions: [{ type: "retry_later", label: "Wait and try again" }],
  });
}
