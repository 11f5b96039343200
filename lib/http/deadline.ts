import { mayHaveWritten } from "#lib/db/request.ts";
import { Problem } from "#lib/problem.ts";
import { atMost } from "#lib/time.ts";

/** Operations that wait for a person add their `waitsMs`. */
export const DEADLINE_MS = 30_000;

const late = (): Problem =>
  new Problem("service_unavailable", {
    detail: mayHaveWritten()
      ? "The service took too long, and part of this request may have been saved. Repeat it with the same idempotency key, or look at the record first."
      : "The service took too long. Nothing was changed. Ask again in a moment.",
    retryAfterSeconds: 1,
    limit: "deadline",
  });

const LATE = Symbol("late");

/** The work itself is not stopped. @throws Problem service_unavailable */
export async function withinDeadline<T>(work: Promise<T>, milliseconds = DEADLINE_MS): Promise<T> {
  const result = await atMost(work, milliseconds, LATE);
  if (result === LATE) throw late();
  return result;
}
