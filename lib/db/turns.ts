import { PoolBusy } from "#lib/db/failure.ts";
import { perProcess } from "#lib/process.ts";

/** Shorter than the time limit of an HTTP request (DEADLINE_MS). */
const WAIT_MS = 5_000;
const WAITING_MAX = 1_024;

type Waiter = { readonly start: () => void; readonly first: boolean };

const queues = (): Map<string, Waiter[]> => perProcess("db/turns", () => new Map());

function entered(key: string, first: boolean, waitMs: number): Promise<void> {
  const queue = queues().get(key);
  if (!queue) {
    queues().set(key, []);
    return Promise.resolve();
  }
  if (queue.length >= WAITING_MAX)
    return Promise.reject(new PoolBusy("Too many callers wait for the same rows.", "turns.waiting"));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(waiter), 1);
      reject(new PoolBusy("The same rows were in use for too long.", "turns.waitMs"));
    }, waitMs);
    const start = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const waiter: Waiter = { start, first };
    const place = first ? queue.findIndex((other) => !other.first) : -1;
    if (place < 0) queue.push(waiter);
    else queue.splice(place, 0, waiter);
  });
}

function leave(key: string): void {
  const next = queues().get(key)?.shift();
  if (next) next.start();
  else queues().delete(key);
}

type Options = { readonly first?: boolean; readonly waitMs?: number };

/** Without turns, callers that wait for a busy row's lock could hold all connections. @throws PoolBusy */
export async function inTurn<T>(
  key: string,
  work: () => Promise<T>,
  { first = false, waitMs = WAIT_MS }: Options = {},
): Promise<T> {
  await entered(key, first, waitMs);
  try {
    return await work();
  } finally {
    leave(key);
  }
}
