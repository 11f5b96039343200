/** The deepest cause: drizzle wraps what the driver threw. */
const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined && error.cause !== error ? causeOf(error.cause) : error;

/** PostgreSQL's SQLSTATE, or the code of the driver or socket. */
export function sqlState(error: unknown): string | null {
  const cause = causeOf(error);
  return typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : null;
}

/** The database is away, shutting down or full: PostgreSQL's classes 08, 53 and 57P, the driver's names and the socket's. */
const AWAY =
  /^(?:CONNECTION_(?:ENDED|CLOSED|DESTROYED)|CONNECT_TIMEOUT|ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|53...|57P0[1-5])$/;

export const databaseAway = (error: unknown): boolean => AWAY.test(sqlState(error) ?? "");

export const lockTimedOut = (error: unknown): boolean => sqlState(error) === "55P03";
