import { ServerConnection, type ConnectionOptions } from "#lib/db/connection.ts";
import { atMost } from "#lib/time.ts";

/** A process or server that is short of CPU time may need many times the usual time: at most this many times is waited. */
const TIMES_MAX = 5;

const settled = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => true,
  );

/** Opens the connections of one pool. The time for an attempt doubles with each earlier one in a row that used up its time. */
export class Opener {
  readonly #options: ConnectionOptions;
  #slow = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async open(): Promise<ServerConnection> {
    const usualMs = this.#options.openMs;
    const began = performance.now();
    try {
      const opened = await this.#first(usualMs, usualMs * Math.min(2 ** this.#slow, TIMES_MAX));
      this.#slow = 0;
      return opened;
    } catch (error) {
      // A timer may end a little early.
      this.#slow = performance.now() - began < usualMs * 0.9 ? 0 : this.#slow + 1;
      throw error;
    }
  }

  /** After the usual time, a second attempt begins beside the first, because the server may have become faster meanwhile. */
  async #first(usualMs: number, openMs: number): Promise<ServerConnection> {
    const dial = (): Promise<ServerConnection> => ServerConnection.open({ ...this.#options, openMs });
    const first = dial();
    if (openMs <= usualMs || (await atMost(settled(first), usualMs, false))) return first;
    const both = [first, dial()];
    const opened = await Promise.any(both).catch(() => first);
    for (const one of both) void one.then((other) => other !== opened && other.close()).catch(() => {});
    return opened;
  }
}
