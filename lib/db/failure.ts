/** A connection ended or was returned to its pool, or none could be opened. */
export class ConnectionLost extends Error {
  readonly code: string;
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = "CONNECTION_LOST";
  }
}

/** The server answers, and must not be written to. */
export class NotPrimary extends ConnectionLost {
  readonly is: "standby" | "old primary" | "other installation";
  constructor(is: NotPrimary["is"], message: string) {
    super(message);
    this.is = is;
  }
}

/** No connection or turn was free in time, or too many callers wait for one. Nothing was sent. */
export class PoolBusy extends Error {
  readonly code = "POOL_BUSY";
  /** The name of the limit that was hit, for the log. */
  readonly limit: string;
  constructor(message: string, limit: string) {
    super(message);
    this.limit = limit;
  }
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

export const notPrimary = (error: unknown): NotPrimary | null =>
  causesOf(error).find((cause): cause is NotPrimary => cause instanceof NotPrimary) ?? null;

const LIMITS: Readonly<Record<string, string>> = {
  "25P03": "idle_in_transaction_session_timeout",
  "53300": "max_connections",
  "55P03": "lock_timeout",
  "57014": "statement_timeout",
};

/** The limit that was hit: of this process, or a setting of PostgreSQL. Null if the error says nothing about one. */
export const limitOf = (error: unknown): string | null =>
  causesOf(error)
    .map((cause) => (cause instanceof PoolBusy ? cause.limit : LIMITS[codeOf(cause) ?? ""]))
    .find(Boolean) ?? null;

/** The error and its causes in one line. */
export const toldCauses = (error: unknown): string =>
  causesOf(error)
    .map((cause) => {
      const [text, code] = [cause instanceof Error ? cause.message : String(cause), codeOf(cause)];
      return code === null || text.includes(code) ? text : `${text} (${code})`;
    })
    .join(" Cause: ");

/** Such an error at the start may pass by itself. A refused password, database or start-up parameter does not. */
export const mayPass = (error: unknown): boolean =>
  (databaseAway(error) || lockedOut(error)) && !/^(?:28...|3D000|08P01)$/.test(sqlState(error) ?? "");

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
