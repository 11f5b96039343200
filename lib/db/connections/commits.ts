import { perProcess } from "#lib/process.ts";

/** When this process last saw a commit of changed rows, and when PostgreSQL last refused to write, as performance.now() tells. */
export type CommitTimes = { committedAt: number; refusedAt: number };

export const commitTimes = (): CommitTimes =>
  perProcess("db/connections/commits", () => ({ committedAt: -Infinity, refusedAt: -Infinity }));

/** The commit of a transaction that changed nothing proves nothing: PostgreSQL writes nothing, and waits for no standby. */
const CHANGES = /^(?:INSERT|UPDATE|DELETE)$/;

/** PostgreSQL is read-only, or its disk is full. */
const REFUSALS = /^(?:25006|53100)$/;

/** Follows the transactions of one connection. */
export class Transactions {
  #changed = false;

  /** Sees the result of each statement. */
  see({ command, count }: { readonly command?: string; readonly count?: number | null }): void {
    if (command === "COMMIT") this.committed();
    else if (command === "ROLLBACK") this.#changed = false;
    else if (count && CHANGES.test(command ?? "")) this.#changed = true;
  }

  /** Also called after a statement outside of a transaction. */
  committed(): void {
    if (this.#changed) commitTimes().committedAt = performance.now();
    this.#changed = false;
  }

  fail(code: string): void {
    if (REFUSALS.test(code)) commitTimes().refusedAt = performance.now();
  }
}
