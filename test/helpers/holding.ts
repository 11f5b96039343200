import postgres, { type Sql } from "postgres";
import { onTestFinished } from "vitest";

/** A transaction of the test, whose locks make other transactions wait. */
export type HeldLocks = {
  readonly sql: Sql;
  /** Also holds the locks of this statement. */
  take(statement: string): Promise<void>;
  /** Resolves when at least `count` database sessions wait for its locks. @throws Error if they do not within two minutes */
  blocks(count?: number): Promise<void>;
  /** Rolls the transaction back. */
  release(): Promise<void>;
};

const BLOCKS_MS = 120_000;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Opens a transaction that holds the locks of the statement, until it is released or the test ends. */
export async function hold(url: string, statement: string): Promise<HeldLocks> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { application_name: "holding" } });
  onTestFinished(() => sql.end({ timeout: 0 }));
  await sql.unsafe("BEGIN");
  await sql.unsafe(statement);
  return {
    sql,
    async take(more) {
      await sql.unsafe(more);
    },
    async blocks(count = 1) {
      for (const end = performance.now() + BLOCKS_MS; performance.now() < end;) {
        const waiting = await sql`SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`;
        if (waiting.length >= count) return;
        await pause(5);
      }
      throw new Error("Nobody waits for these locks.");
    },
    async release() {
      await sql.unsafe("ROLLBACK");
    },
  };
}
