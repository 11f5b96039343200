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
  /** False if the transaction set how long its COMMIT waits: one that does not wait succeeds without a standby, too. */
  #waits = true;

  /** Sees each statement with its result. */
  see(strings: readonly string[], { command, count }: { readonly command?: string; readonly count?: number | null }): void {
    if (strings.some((text) => text.includes("synchronous_commit"))) this.#waits = false;
    if (command === "COMMIT") this.committed();
    else if (command === "ROLLBACK") this.#end();
    else if (count && CHANGES.test(command ?? "")) this.#changed = true;
  }

  /** Also called after a statement outside of a transaction. */
  committed(): void {
    if (this.#changed && this.#waits) commitTimes().committedAt = performance.now();
    this.#end();
  }

  #end(): void {
    this.#changed = false;
    this.#waits = true;
  }

  fail(code: string): void {
    if (REFUSALS.test(code)) commitTimes().refusedAt = performance.now();
  }
}
