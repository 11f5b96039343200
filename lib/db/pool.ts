import { commit } from "#lib/db/connections/commit.ts";
import { type ServerConnection, type ConnectionOptions, type Query, type Backend } from "#lib/db/connection.ts";
import { ConnectionLost, connectionLost, OutcomeUnknown } from "#lib/db/failure.ts";
import { copyOf, sqlThrough, type Sql } from "#lib/db/sql.ts";
import { terminate } from "#lib/db/connections/terminate.ts";
import { failureNoter, noteFailure, noteWrite } from "#lib/db/request.ts";
import { Opener } from "#lib/db/connections/opener.ts";
import { Waiters } from "#lib/db/connections/waiters.ts";

export type PoolOptions = ConnectionOptions & {
  readonly max: number;
  /** The longest wait for a free connection. */
  readonly waitMs: number;
  readonly waitersMax: number;
  readonly idleMs: number;
  readonly lifetimeMs: number;
  /** For this long, callers wait during an outage. A younger read or BEGIN is sent once more if its connection ends. */
  readonly graceMs?: number;
};

/** Opening a connection takes much CPU time. */
const OPENING_MAX = 2;
const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 1_000;
/** The pause between attempts to connect while an outage is younger than `graceMs`. */
const PAUSE_GRACE_MS = 100;

const ELSEWHERE = "The database fell silent on another connection.";

/** Statements that count as reads and may be sent twice, so such a statement must not write. */
const READS = /^\s*(?:SELECT|SHOW|EXPLAIN)\b/i;

export class Pool {
  readonly #options: PoolOptions;
  readonly #idle: ServerConnection[] = [];
  readonly #lent = new Set<ServerConnection>();
  readonly #waiters = new Waiters();
  readonly #opener: Opener;
  /** Server processes whose connections this process gave up. They may still hold locks and use up max_connections. */
  readonly #abandoned: Backend[] = [];
  #opening = 0;
  #failures = 0;
  /** The time of the first failed attempt to connect since one succeeded; null without one. */
  #awaySince: number | null = null;
  #pause: NodeJS.Timeout | null = null;
  #sweep: NodeJS.Timeout | null = null;
  isEnding = false;
  /** Runs statements outside of a transaction, each on any free connection. */
  readonly sql: Sql;
  /** Called when a connection ended because it got no data, so that other silent connections can be ended too. */
  onSilence: (since: number) => void = () => {};
  /** Called every QUIET_MS while a statement waits without data. */
  onQuiet: () => void = () => {};

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#opener = new Opener(options);
    this.sql = sqlThrough((query) => void this.#single(query));
  }

  /** Whether a caller waits because all connections are lent. */
  get isExhausted(): boolean {
    return this.#waiters.count > 0 && this.#lent.size === this.#options.max;
  }

  get quiet(): readonly ServerConnection[] {
    return [...this.#lent].filter(({ isQuiet }) => isQuiet);
  }

  /** If `work` fails, sends ROLLBACK. If a statement still runs after `work` and ROLLBACK, ends the connection. */
  async use<T>(work: (sql: Sql, connection: ServerConnection) => Promise<T>): Promise<T> {
    return this.#useLent(await this.#lend().catch(noted), work);
  }

  async #useLent<T>(connection: ServerConnection, work: (sql: Sql, connection: ServerConnection) => Promise<T>): Promise<T> {
    let returned = false;
    const sql = sqlThrough((query) => {
      if (returned) query.reject(new ConnectionLost("The connection was returned to its pool."));
      else connection.send(query);
    });
    try {
      return await work(sql, connection);
    } catch (error) {
      // Stop sending statements of this transaction, because after ROLLBACK they would run outside of it.
      returned = true;
      // The error may be one that `work` threw in place of the database's.
      for (const cause of [connection.failure, connection.ended, error]) noteFailure(cause);
      // If ROLLBACK fails, end the connection, because this also ends the open transaction.
      if (!connection.ended)
        await connection.sql.unsafe("ROLLBACK").catch((cause: unknown) => connection.end("ROLLBACK failed.", cause));
      throw error;
    } finally {
      returned = true;
      this.#take(connection);
    }
  }

  /** Rejects if `work` or any of its statements fails, and with OutcomeUnknown if COMMIT was sent and not answered. */
  async begin<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#useLent(await this.#begun().catch(noted), async (sql, connection) => {
      const result = await work(sql);
      // PostgreSQL aborts the transaction at the first failed statement, even if `work` caught the error.
      if (connection.failure) throw connection.failure;
      await commit(connection, () => sql.unsafe("COMMIT"));
      return result;
    });
  }

  async #begun(): Promise<ServerConnection> {
    const since = performance.now();
    for (let isRepeat = false; ; isRepeat = true) {
      const connection = await this.#lend();
      try {
        await connection.sql.unsafe("BEGIN");
        return connection;
      } catch (error) {
        // If the server answered BEGIN with an error, the connection has no transaction.
        this.#take(connection);
        if (isRepeat || !connection.ended || !this.#isGrace(since)) throw error;
      }
    }
  }

  #isGrace(since: number): boolean {
    return !this.isEnding && performance.now() - since < (this.#options.graceMs ?? 0);
  }

  /** Ends idle and busy connections that got no data since `time`, because their statements would wait for the time limit. */
  forgetUnheardSince(time: number): void {
    this.forgetIdleUnheardSince(time);
    for (const connection of [...this.#lent].filter(({ busy, heardAt }) => busy && heardAt < time)) connection.abandon(ELSEWHERE);
  }

  forgetIdleUnheardSince(time: number): readonly ServerConnection[] {
    const unheard = this.#idle.filter(({ heardAt }) => heardAt < time);
    for (const connection of unheard) connection.abandon(ELSEWHERE);
    return unheard;
  }

  /** Refuses new work, waits up to `limitMs` for lent connections, then closes all. Returns the server processes that may still run. */
  async end(limitMs: number): Promise<readonly Backend[]> {
    this.isEnding = true;
    if (this.#pause) clearTimeout(this.#pause);
    if (this.#sweep) clearTimeout(this.#sweep);
    this.#waiters.rejectAll(new ConnectionLost("The pool has ended."));
    const limit = performance.now() + limitMs;
    while (this.#lent.size > 0 && performance.now() < limit) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const connection of this.#lent) connection.abandon("The pool has ended.");
    for (const connection of this.#idle.slice()) connection.close();
    return this.#abandoned;
  }

  async #single(query: Query, note = failureNoter(), isRepeat = false): Promise<void> {
    const since = performance.now();
    const reads = READS.test(query.strings[0] ?? "");
    let connection: ServerConnection;
    try {
      connection = await this.#lend();
    } catch (error) {
      note(error);
      return query.reject(error);
    }
    const { resolve, reject } = query;
    query.resolve = (result) => {
      connection.transactions.committed();
      this.#take(connection);
      resolve(result);
    };
    query.reject = (error) => {
      this.#take(connection);
      if (reads && !isRepeat && connection.ended && this.#isGrace(since)) {
        const repeat = copyOf(query, (copy) => void this.#single(copy, note, true));
        return void repeat.then(resolve, reject);
      }
      note(error);
      reject(
        !reads && (connection.ended || connectionLost(error))
          ? new OutcomeUnknown("The statement may have been carried out.", { cause: error })
          : error,
      );
    };
    if (!reads) noteWrite();
    connection.send(query);
  }

  #lend(): Promise<ServerConnection> {
    if (this.isEnding) return Promise.reject(new ConnectionLost("The pool has ended."));
    const free = this.#idle.pop();
    if (free) {
      this.#lent.add(free);
      return Promise.resolve(free);
    }
    const { waitMs, waitersMax } = this.#options;
    const waits = this.#waiters.wait(waitMs, waitersMax);
    this.#fill();
    return waits;
  }

  #take(connection: ServerConnection): void {
    if (!this.#lent.delete(connection) || connection.ended) return;
    connection.failure = null;
    if (connection.busy) return connection.end("A statement was left running.");
    if (performance.now() - connection.openedAt > this.#options.lifetimeMs) return connection.close();
    this.#give(connection);
  }

  #give(connection: ServerConnection): void {
    if (this.isEnding) return connection.close();
    const next = this.#waiters.next();
    if (next) {
      this.#lent.add(connection);
      return next(connection);
    }
    this.#idle.push(connection);
    this.#planSweep();
  }

  #fill(): void {
    while (!this.isEnding && !this.#pause && this.#wanted > 0) {
      this.#opening += 1;
      void this.#open();
    }
  }

  get #wanted(): number {
    const { max } = this.#options;
    const room = max - this.#idle.length - this.#lent.size - this.#opening;
    return Math.min(this.#waiters.count - this.#opening, room, OPENING_MAX - this.#opening);
  }

  async #open(): Promise<void> {
    try {
      const connection = await this.#opener.open();
      connection.onEnd = (silent) => this.#ended(connection, silent);
      connection.onQuiet = () => this.onQuiet();
      if (connection.ended) throw connection.ended;
      await this.#endAbandoned(connection);
      this.#opening -= 1;
      this.#failures = 0;
      this.#awaySince = null;
      this.#give(connection);
    } catch (error) {
      this.#opening -= 1;
      this.#refused(error);
    }
    this.#fill();
  }

  async #endAbandoned(connection: ServerConnection): Promise<void> {
    if (this.#abandoned.length === 0) return;
    const abandoned = this.#abandoned.splice(0);
    await terminate(connection.sql, abandoned).catch(() => {});
    if (!connection.ended) return;
    this.#abandoned.push(...abandoned);
    throw connection.ended;
  }

  #refused(error: unknown): void {
    this.#awaySince ??= performance.now();
    const isYoung = this.#isGrace(this.#awaySince);
    if (!isYoung) this.#failures += 1;
    if (this.#lent.size === 0 && !isYoung) this.#waiters.rejectAll(error);
    if (this.#pause || this.isEnding) return;
    const pause = isYoung ? PAUSE_GRACE_MS : Math.min(PAUSE_MIN_MS * 2 ** Math.min(this.#failures - 1, 10), PAUSE_MAX_MS);
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#fill();
    }, pause);
  }

  #ended(connection: ServerConnection, silent: boolean): void {
    this.#lent.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    if (connection.unheard && connection.backend) this.#abandoned.push(connection.backend);
    if (silent) this.onSilence(performance.now() - this.#options.silenceMs);
    this.#fill();
  }

  #planSweep(): void {
    if (this.#sweep) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = null;
      const oldest = performance.now() - this.#options.idleMs;
      for (const connection of this.#idle.filter(({ heardAt }) => heardAt < oldest)) connection.close();
      if (this.#idle.length > 0) this.#planSweep();
    }, this.#options.idleMs / 2);
    this.#sweep.unref();
  }
}

function noted(error: unknown): never {
  noteFailure(error);
  throw error;
}
