import { ProblemError } from "#lib/http/client.ts";

/** The errors of a refused request by the top field of its body. */
export const bodyErrors = (error: Error | null): Readonly<Record<string, string>> =>
  error instanceof ProblemError
    ? Object.fromEntries(
        (error.problem.errors ?? []).map(({ pointer, detail }) => [(pointer ?? "").slice(1).split("/")[0], detail]),
      )
    : {};
