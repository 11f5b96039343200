import type { ServerConnection } from "#lib/db/connection.ts";
import { PoolBusy } from "#lib/db/failure.ts";

type Waiter = { readonly resolve: (connection: ServerConnection) => void; readonly reject: (error: unknown) => void };

/** The caller that has waited longest gets the next connection. */
export class Waiters {
  readonly #all: Waiter[] = [];

  get count(): number {
    return this.#all.length;
  }

  /** @throws PoolBusy if `most` callers wait already, or after `milliseconds` */
  wait(milliseconds: number, most: number): Promise<ServerConnection> {
    if (this.#all.length >= most)
      return Promise.reject(new PoolBusy("Too many callers wait for a connection.", "pool.waitersMax"));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#all.splice(this.#all.indexOf(waiter), 1);
        reject(new PoolBusy("No connection was free in time.", "pool.waitMs"));
      }, milliseconds);
      const waiter: Waiter = {
        resolve: (connection) => {
          clearTimeout(timer);
          resolve(connection);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#all.push(waiter);
    });
  }

  next(): Waiter["resolve"] | undefined {
    return this.#all.shift()?.resolve;
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#all.splice(0)) reject(error);
  }
}
