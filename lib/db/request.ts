import { AsyncLocalStorage } from "node:async_hooks";
import { databaseAway } from "#lib/db/failure.ts";
import { perProcess } from "#lib/process.ts";

type Followed = { readonly began: number; written: boolean; lost: unknown };

const requests = () => perProcess("followedRequests", () => new AsyncLocalStorage<Followed>());

/** Runs a request and follows what it does with the database, because libraries in between hide it. */
export const followRequest = <T>(work: () => T): T =>
  requests().run({ began: performance.now(), written: false, lost: null }, work);

/** A COMMIT, or a single statement that writes, is about to be sent. */
export function noteWrite(): void {
  const request = requests().getStore();
  if (request) request.written = true;
}

/** A statement failed. */
export function noteFailure(error: unknown): void {
  const request = requests().getStore();
  if (request && databaseAway(error)) request.lost = error;
}

/** Whether this request may have written something. */
export const mayHaveWritten = (): boolean => requests().getStore()?.written === true;

/** Why this request lost the database, or null. */
export const lostDatabase = (): unknown => requests().getStore()?.lost ?? null;

/** How long this request has been worked on; null outside of requests. */
export function requestAgeMs(): number | null {
  const request = requests().getStore();
  return request ? performance.now() - request.began : null;
}
