import { ProblemError } from "#lib/http/client.ts";

/** Keeps the errors by the top-level field of the request's body that each error's pointer names. */
export const bodyErrors = (error: Error | null): Readonly<Record<string, string>> =>
  error instanceof ProblemError
    ? Object.fromEntries(
        (error.problem.errors ?? []).map(({ pointer, detail }) => [(pointer ?? "").slice(1).split("/")[0], detail]),
      )
    : {};
