import { AsyncLocalStorage } from "node:async_hooks";
import { databaseAway } from "#lib/db/failure.ts";
import { perProcess } from "#lib/process.ts";

type RequestTrace = { readonly began: number | null; written: boolean; lost: unknown; organizationId: string | null };

const requests = () => perProcess("db/request", () => new AsyncLocalStorage<RequestTrace>());

/** The other functions of this file note and read facts about the request whose `work` calls them. */
export const followRequest = <T>(work: () => T): T =>
  requests().run({ began: performance.now(), written: false, lost: null, organizationId: null }, work);

export function noteWrite(): void {
  const request = requests().getStore();
  if (request) request.written = true;
}

/** Notes failures of the request that calls this, also if the result is called by a socket that another request opened. */
export function failureNoter(): (error: unknown) => void {
  const request = requests().getStore();
  return (error) => {
    if (request && databaseAway(error)) request.lost = error;
  };
}

export const noteFailure = (error: unknown): void => failureNoter()(error);

export const mayHaveWritten = (): boolean => requests().getStore()?.written === true;

/** The last error of this request for which databaseAway is true; null without one, or if no request is being handled. */
export const lostDatabase = (): unknown => requests().getStore()?.lost ?? null;

/** Null if no request is being handled. */
export function requestAgeMs(): number | null {
  const request = requests().getStore();
  if (!request || request.began === null) return null;
  return performance.now() - request.began;
}

/** The organization whose share of outbound requests this request uses. */
export function noteOrganization(organizationId: string | null): void {
  const request = requests().getStore();
  if (request) request.organizationId = organizationId;
}

export const actingFor = (): string | null => requests().getStore()?.organizationId ?? null;

/** For work that uses an organization's share of outbound requests but is no request, such as that of a background worker. */
export const actFor = <T>(organizationId: string, work: () => T): T =>
  requests().run({ began: null, written: false, lost: null, organizationId }, work);
