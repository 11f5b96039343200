import { databaseAway, limitOf, lockedOut, outcomeUnknown, sqlState } from "#lib/db/failure.ts";
import { lostDatabase, mayHaveWritten } from "#lib/db/request.ts";
import type { Allowance } from "#lib/http/rate-limit.ts";
import { log } from "#lib/telemetry/log.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { isProblem, Problem, problemBody, problems } from "#lib/problem.ts";

export type Reply = { readonly status: number; readonly body: string | null; readonly headers: Record<string, string> };

export function headersOf(requestId: string, status: number, allowance: Allowance | null): Record<string, string> {
  const headers: Record<string, string> = {
    "Content-Type": status < 400 ? "application/json" : "application/problem+json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Request-Id": requestId,
  };
  if (allowance) {
    headers["RateLimit-Policy"] = allowance.policy;
    headers["RateLimit"] = `"${allowance.name}";r=${allowance.remaining};t=1`;
  }
  return headers;
}

const nothingChanged = "The service cannot reach its database. Nothing was changed. Ask again in a moment.";
const maybeChanged =
  "The service lost its database, and part of this request may have been saved. Repeat it with the same idempotency key, or look at the record first.";

/** What the log says about a 5xx: the problem or SQLSTATE, the limit that was hit, and the error with its causes. */
export function loggedFailure(error: unknown) {
  const cause = isProblem(error) ? (lostDatabase() ?? error) : error;
  const limit = (isProblem(error) ? error.details.limit : null) ?? limitOf(cause);
  return { ...(isProblem(error) && { problem: error.code }), sqlState: sqlState(cause), limit, error: cause };
}

/** For an unexpected error the problem shows only the request id, so that no internals leak. */
export function toProblem(error: unknown, requestId: string, operationId: string): Problem {
  if (isProblem(error)) return error;
  const code = sqlState(error) ?? "none";
  metrics().failures.inc({ sqlstate: code });
  if (databaseAway(error)) {
    log().error({ requestId, operation: operationId, code, ...loggedFailure(error) }, "The database does not answer");
    const detail = outcomeUnknown(error) || mayHaveWritten() ? maybeChanged : nothingChanged;
    return new Problem("service_unavailable", { detail, retryAfterSeconds: 1 });
  }
  if (lockedOut(error)) {
    log().warn({ requestId, operation: operationId, code, ...loggedFailure(error) }, "A lock was not free in time");
    return new Problem("overloaded", {
      detail: "The record is locked by other work. Ask again in a moment.",
      retryAfterSeconds: 1,
    });
  }
  log().error({ requestId, operation: operationId, error }, "Unexpected error");
  return new Problem("internal_error", { detail: `The service failed. Quote the request id ${requestId} to support.` });
}

export function problemReply(problem: Problem, requestId: string, allowance: Allowance | null): Reply {
  const { status } = problems[problem.code];
  const headers = { ...headersOf(requestId, status, allowance), ...problem.details.headers };
  if (problem.details.retryAfterSeconds !== undefined) headers["Retry-After"] = String(problem.details.retryAfterSeconds);
  if (status === 401) headers["WWW-Authenticate"] = 'Bearer realm="countersign"';
  return { status, headers, body: JSON.stringify(problemBody(problem, requestId)) };
}
