import { ProblemError } from "#lib/http/client.ts";

/** The messages of a refused request, by the top-level field of its body that the pointer of each error names. */
export const bodyErrors = (error: Error | null): Readonly<Record<string, string>> =>
  error instanceof ProblemError
    ? Object.fromEntries(
        (error.problem.errors ?? []).map(({ pointer, detail }) => [(pointer ?? "").slice(1).split("/")[0], detail]),
      )
    : {};
