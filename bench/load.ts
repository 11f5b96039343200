import { setTimeout as pause } from "node:timers/promises";
import { Connection, type Target } from "./client.ts";

export type Measurement = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
};

export type Load = {
  /**
   * Connection n uses target n modulo their number. Targets of this service have different API keys, because the rate limit of
   * a single key would limit the result.
   */
  readonly targets: readonly Target[];
  readonly connections: number;
  readonly seconds: number;
  /** The rate of all connections together, if it is not as high as possible. */
  readonly perSecond?: number;
  readonly body: (index: number) => string;
  /** A header that depends on the body, as one line with its end. */
  readonly header?: (body: string) => string;
  readonly good: (status: number, body: string) => boolean;
};

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Sends requests on several connections. Each connection sends its next request after the reply to the last one. */
export async function load({ targets, connections, seconds, perSecond, body, header, good }: Load): Promise<Measurement> {
  const open = await Promise.all(
    Array.from({ length: connections }, (_, index) => Connection.open(targets[index % targets.length]!)),
  );
  const times: number[] = [];
  let sent = 0;
  let errors = 0;
  const began = performance.now();
  const until = began + seconds * 1000;
  await Promise.all(
    open.map(async (connection, index) => {
      const every = perSecond === undefined ? 0 : (connections * 1000) / perSecond;
      for (let due = began + (index / connections) * every; performance.now() < until; due += every) {
        const early = due - performance.now();
        if (every > 0 && early > 0) await pause(early);
        const text = body(sent++);
        const started = performance.now();
        const reply = await connection.send(text, header?.(text));
        times.push(performance.now() - started);
        if (!good(reply.status, reply.body)) errors += 1;
      }
      connection.close();
    }),
  );
  const elapsed = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  return { requests: times.length, perSecond: times.length / elapsed, p50Ms: at(times, 0.5), p99Ms: at(times, 0.99), errors };
}
