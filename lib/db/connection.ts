import type { Socket } from "node:net";
import type postgres from "postgres";
import type { PendingQuery, Row } from "postgres";
import { Transactions } from "#lib/db/connections/commits.ts";
import { dial, targetOf } from "#lib/db/connections/dial.ts";
import { openPrimary } from "#lib/db/connections/hosts.ts";
import { admit, noteEnd, type Primary } from "#lib/db/connections/timelines.ts";
import { ConnectionLost, mayPass, NotPrimary } from "#lib/db/failure.ts";
import { driver, sqlThrough, type Sql } from "#lib/db/sql.ts";
import { wireTypes } from "#lib/db/connections/wire-types.ts";

export type ConnectionOptions = {
  readonly url: string;
  readonly settings: Readonly<Record<string, string | number>>;
  /** The longest time to open a connection and get the answer to its first statement. */
  readonly openMs: number;
  /** After this long without data for its statements, the connection ends; longer than a statement_timeout, if one is set. */
  readonly silenceMs: number;
};

/** The driver's query with private fields, which this module uses because it replaces the driver's own pool. */
export type Query = PendingQuery<Row[]> & {
  handler: (query: Query) => void;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  args: unknown;
  parameters: unknown;
  readonly strings: readonly string[];
  readonly options: object;
  readonly isRaw?: unknown;
};

const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);
export type Backend = { readonly pid: number; readonly since: number };

/** `timeline` is a hexadecimal number of 8 digits. pg_control_checkpoint() would tell an old one for some time after a promotion. */
const FIRST = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid, (SELECT system_identifier FROM pg_control_system())::text AS system,
  CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`;
/** For servers that do not tell their timeline. */
const FIRST_ELSE = "SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid";
type First = { readonly standby: boolean; readonly pid: number; readonly system?: string; readonly timeline?: string | null };
/** A closed socket waits this many milliseconds for the server to close its side, and is then destroyed. */
const GOODBYE_MS = 1_000;

/** A connection whose statements get no data for this many milliseconds is quiet (isQuiet, onQuiet). */
export const QUIET_MS = 1_000;

const ignore = (): void => {};

const isFatal = (error: postgres.PostgresError): boolean => error.severity === "FATAL" || error.severity === "PANIC";

/** The driver would ask for a second socket to find such a host by itself. */
function withoutAttributes(host: string): string {
  const own = new URL(host);
  own.searchParams.delete("target_session_attrs");
  return own.href;
}

/** A server that has become a standby still answers reads, and refuses every write. */
const isStandby = (error: postgres.PostgresError): boolean => error.code === "25006";

/** A migration changed the result type of a prepared statement, so PostgreSQL refuses the statement on this connection. */
const isStalePlan = (error: postgres.PostgresError): boolean =>
  error.code === "0A000" && error.routine === "RevalidateCachedQuery";

/**
 * A COMMIT waited for a standby, and the wait was canceled (01000) or the server process was terminated (57P01). The answer would
 * be a success, although a standby that takes over may lack the transaction. PostgreSQL has other warnings with the same codes, such
 * as that of a collation version at each new connection, so the function that warns must be the one that waits.
 */
const isWaitCanceled = (notice: postgres.Notice): boolean => notice["routine"] === "SyncRepWaitForLSN";

/** The driver gets only one socket, so it never sends a statement on another connection. */
export class ServerConnection {
  readonly #live = new Set<Query>();
  #driver: ((query: Query) => void) | null = null;
  #ended: ConnectionLost | null = null;
  #socket: Socket | null = null;
  readonly #silenceMs: number;
  #silence: NodeJS.Timeout | null = null;
  #sentAt = 0;
  #heardAt = performance.now();
  readonly openedAt = performance.now();
  /** The id of the server process, and a time at which it was running; null until the connection is open. */
  backend: Backend | null = null;
  /** Null if the server does not tell its timeline. */
  primary: Primary | null = null;
  /** True after `abandon`: the server process may still run. */
  unheard = false;
  readonly sql: Sql = sqlThrough((query) => this.send(query));
  readonly transactions = new Transactions();
  /** PostgreSQL's first error since a caller got this connection; later ones of a transaction are only 25P02 (aborted). */
  failure: postgres.PostgresError | null = null;
  /** Called once, when an open connection ends. `silent` is true if it ended after `silenceMs` without data. */
  onEnd: (silent: boolean) => void = ignore;
  /** Called every QUIET_MS while a statement waits without data. */
  onQuiet: () => void = ignore;

  private constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** Among several hosts of `url`, finds the primary. */
  static open(options: ConnectionOptions): Promise<ServerConnection> {
    return openPrimary(options.url, (host) => ServerConnection.openAt(host, options));
  }

  /** @param host the address of one host of `url`. */
  static async openAt(host: string, { url, settings, openMs, silenceMs }: ConnectionOptions): Promise<ServerConnection> {
    const connection = new ServerConnection(silenceMs);
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort();
      connection.end("The database did not answer in time.");
    }, openMs);
    try {
      const socket = await dial(targetOf(host), limit.signal);
      connection.#watch(socket);
      const client = driver()(withoutAttributes(host), {
        max: 1,
        ssl: false,
        fetch_types: false,
        idle_timeout: 0,
        max_lifetime: null,
        connect_timeout: 0,
        backoff: () => 0,
        types: wireTypes as never,
        onnotice: (notice) => connection.#warned(notice),
        connection: { ...settings },
        socket: connection.#once(socket),
      } as postgres.Options<never>);
      const first = client.unsafe(FIRST) as unknown as Query;
      connection.#driver = first.handler;
      first.handler = (query) => connection.send(query);
      const [row] = (await first.catch((error: unknown) => {
        // A server that was only too slow may be an old primary.
        if (connection.ended || mayPass(error)) throw error;
        connection.failure = null;
        return connection.sql.unsafe(FIRST_ELSE);
      })) as unknown as First[];
      connection.#met(row, url);
      return connection;
    } catch (error) {
      connection.end("The connection could not be opened.", error);
      throw new ConnectionLost("The connection could not be opened.", error);
    } finally {
      clearTimeout(timer);
    }
  }

  #met(first: First | undefined, url: string): void {
    if (this.#ended) throw this.#ended;
    if (first) this.backend = { pid: first.pid, since: performance.now() };
    if (first?.standby) throw new NotPrimary("standby", "The database is a standby and takes no writes.");
    if (!first?.system || !first.timeline) return;
    this.primary = { system: first.system, timeline: Number.parseInt(first.timeline, 16) };
    admit(this, url, this.primary);
  }

  /** The driver may ask for a second socket after the first one has closed, and then must fail. */
  #once(socket: Socket): () => Socket {
    let given = false;
    return () => {
      if (given) throw new ConnectionLost("A connection has one socket.");
      given = true;
      return socket;
    };
  }

  /** Without the listener for `error`, a statement that is sent between `error` and `close` would wait forever. */
  #watch(socket: Socket): void {
    this.#socket = socket;
    if (this.#ended) socket.destroy();
    socket.on("error", (error) => this.end("The connection to the database failed.", error));
    socket.on("end", () => this.end("The database closed the connection."));
    socket.on("close", () => this.end("The connection to the database closed."));
    socket.on("data", () => (this.#heardAt = performance.now()));
  }

  #listen(milliseconds: number): void {
    this.#silence = setTimeout(() => {
      // Node.js runs timers before it reads sockets. So first let it read data that arrived while the process was busy.
      setImmediate(() => {
        this.#silence = null;
        if (this.#live.size === 0 || this.#ended) return;
        const quietFor = this.#quietFor;
        if (quietFor >= this.#silenceMs) return this.abandon("The database fell silent.", true);
        if (quietFor >= QUIET_MS) this.onQuiet();
        const next = QUIET_MS - (quietFor % QUIET_MS);
        this.#listen(Math.min(next, this.#silenceMs - quietFor));
      });
    }, milliseconds);
    this.#silence.unref();
  }

  get ended(): ConnectionLost | null {
    return this.#ended;
  }

  get busy(): boolean {
    return this.#live.size > 0;
  }

  get #quietFor(): number {
    return performance.now() - Math.max(this.#sentAt, this.#heardAt);
  }

  get isQuiet(): boolean {
    return this.busy && this.#quietFor >= QUIET_MS;
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  /** Every query settles, at the latest with an error when the connection ends. */
  send(query: Query): void {
    if (this.#ended || !this.#driver) return query.reject(this.#ended ?? new ConnectionLost("The connection is not open."));
    const { resolve, reject } = query;
    this.#live.add(query);
    this.#sentAt = performance.now();
    if (this.#silence === null) this.#listen(Math.min(QUIET_MS, this.#silenceMs));
    query.resolve = (result) => {
      // The connection ended before, so the caller was told that the outcome is unknown.
      if (!this.#live.delete(query)) return;
      // Callers keep the query after its result. Clear its parameters, so that V8 can collect them soon.
      query.args = query.parameters = null;
      this.transactions.see(query.strings, result as { readonly command: string });
      resolve(result);
    };
    query.reject = (error) => {
      if (!this.#live.delete(query)) return;
      reject(this.#judge(error));
    };
    // Without this handler, a rejection that the caller handles later would count as unhandled and end the process.
    void Promise.prototype.then.call(query, ignore, ignore);
    this.#driver(query);
  }

  /** After an error that did not come from PostgreSQL, the driver's state is unknown, so the connection ends. */
  #judge(error: unknown): unknown {
    if (!(error instanceof driver().PostgresError)) {
      if (!this.#ended) this.end("The driver failed.", error);
      return error;
    }
    if (isStalePlan(error)) {
      this.end("A migration changed a prepared statement.", error);
      return this.#ended;
    }
    this.transactions.fail(error.code);
    if (isFatal(error) || isStandby(error)) this.end("The database ended the connection.", error);
    if (error.code === "25P02" && this.failure) return this.failure;
    this.failure ??= error;
    return error;
  }

  /** Ends the connection, so that what was sent has an unknown outcome. */
  #warned(notice: postgres.Notice): void {
    if (this.busy && isWaitCanceled(notice)) this.end("A wait for a standby was canceled.", new Error(notice["message"]));
  }

  end(reason: string, cause?: unknown, silent = false): void {
    if (this.#ended) return;
    this.#ended = new ConnectionLost(reason, cause);
    noteEnd(this);
    this.#socket?.destroy();
    for (const query of this.#live) query.reject(this.#ended);
    this.onEnd(silent);
  }

  /** For a server that may not notice the end: its process may keep locks until the pool ends the process. */
  abandon(reason: string, silent = false): void {
    this.unheard = true;
    this.end(reason, undefined, silent);
  }

  /** Tells the server with PostgreSQL's Terminate message. */
  close(): void {
    if (this.#ended) return;
    this.#ended = new ConnectionLost("The connection was closed.");
    noteEnd(this);
    const socket = this.#socket;
    socket?.end(TERMINATE);
    setTimeout(() => socket?.destroy(), GOODBYE_MS).unref();
    this.onEnd(false);
  }
}
