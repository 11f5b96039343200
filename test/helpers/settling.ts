import { setTimeout as pause } from "node:timers/promises";
import { reconcile } from "#lib/settlement/reconcile.ts";

const EVERY_MS = 200;

/** Looks up the outcomes of executions on the chain, as the worker of a server does, until the promise settles. */
export async function settling<T>(work: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  while (!state.isDone) {
    await reconcile();
    await Promise.race([pause(EVERY_MS), done.catch(() => null)]);
  }
  return done;
}
