import { AsyncLocalStorage } from "node:async_hooks";
import { databaseAway } from "#lib/db/failure.ts";
import { perProcess } from "#lib/process.ts";

type RequestTrace = { readonly began: number | null; written: boolean; lost: unknown; organizationId: string | null };

const requests = () => perProcess("followedRequests", () => new AsyncLocalStorage<RequestTrace>());

/**
 * Handles an HTTP request and records what it does with the database, because the libraries between the request and the
 * database do not report it.
 */
export const followRequest = <T>(work: () => T): T =>
  requests().run({ began: performance.now(), written: false, lost: null, organizationId: null }, work);

/** Records that this request is sending a COMMIT or a single statement that writes. */
export function noteWrite(): void {
  const request = requests().getStore();
  if (request) request.written = true;
}

/** Records that a statement of this request failed because the database was unavailable. */
export function noteFailure(error: unknown): void {
  const request = requests().getStore();
  if (request && databaseAway(error)) request.lost = error;
}

/** Whether this request may have written something. */
export const mayHaveWritten = (): boolean => requests().getStore()?.written === true;

/**
 * The error with which this request lost the database; null if the database was available, or if no request is being handled.
 */
export const lostDatabase = (): unknown => requests().getStore()?.lost ?? null;

/** The age of this request in milliseconds; null if no request is being handled. */
export function requestAgeMs(): number | null {
  const request = requests().getStore();
  if (!request || request.began === null) return null;
  return performance.now() - request.began;
}

/** Records the organization whose limits this request counts against. */
export function noteOrganization(organizationId: string | null): void {
  const request = requests().getStore();
  if (request) request.organizationId = organizationId;
}

export const actingFor = (): string | null => requests().getStore()?.organizationId ?? null;

/**
 * Runs work that counts against an organization's limits although it is not a request, such as the work of a background worker.
 */
export const actFor = <T>(organizationId: string, work: () => T): T =>
  requests().run({ began: null, written: false, lost: null, organizationId }, work);
