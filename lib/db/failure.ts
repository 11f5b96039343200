/** A connection ended or was returned to its pool, or none could be opened. */
export class ConnectionLost extends Error {
  readonly code: string;
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = "CONNECTION_LOST";
  }
}

/** No connection or turn was free in time, or too many callers wait for one. Nothing was sent. */
export class PoolBusy extends Error {
  readonly code = "POOL_BUSY";
}

/** A COMMIT, or a single statement that may write, got no answer. PostgreSQL may have carried it out. */
export class OutcomeUnknown extends Error {
  readonly code = "OUTCOME_UNKNOWN";
}

const causesOf = (error: unknown): unknown[] =>
  error instanceof Error && error.cause !== undefined && error.cause !== error ? [error, ...causesOf(error.cause)] : [error];

const codeOf = (error: unknown): string | null =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : null;

/** The code of the innermost error that has one, because drizzle and better-auth wrap the driver's errors. Else null. */
export function sqlState(error: unknown): string | null {
  for (const cause of causesOf(error).toReversed()) {
    const code = codeOf(cause);
    if (code !== null) return code;
  }
  return null;
}

/**
 * PostgreSQL's classes and codes: 08 connection, 53 resources, 57P shutdown and start, 58 system,
 * 57014 canceled statement, 25006 read-only server, 25P03 and 25P04 ended transactions.
 */
const AWAY =
  /^(?:CONNECTION_(?:LOST|CLOSED|ENDED|DESTROYED)|OUTCOME_UNKNOWN|POOL_BUSY|E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|08...|53...|57014|57P..|58...|25006|25P0[34])$/;

export const databaseAway = (error: unknown): boolean => causesOf(error).some((cause) => AWAY.test(codeOf(cause) ?? ""));

/** Tests the error itself, without its causes. */
export const connectionLost = (error: unknown): boolean => codeOf(error) === "CONNECTION_LOST";

const ENDED = /^(?:CONNECTION_LOST|57P0[123])$/;

/** Another connection may succeed. Other errors of a server that ends the connection, such as 25006, are not included. */
export const connectionEnded = (error: unknown): boolean => causesOf(error).some((cause) => ENDED.test(codeOf(cause) ?? ""));

export const endedBeforeCommit = (error: unknown): boolean => connectionEnded(error) && !outcomeUnknown(error);

/** Whether the failed statement may have written something. */
export const outcomeUnknown = (error: unknown): boolean => causesOf(error).some((cause) => codeOf(cause) === "OUTCOME_UNKNOWN");

/** Deadlock, serialization failure or lock timeout: another transaction uses the rows, and a retry may succeed. */
export const lockedOut = (error: unknown): boolean => ["40P01", "40001", "55P03"].includes(sqlState(error) ?? "");
