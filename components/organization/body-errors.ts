import { ProblemError } from "#lib/http/client.ts";

/** The errors of a refused request, by the field of its body that each pointer begins with. */
export const bodyErrors = (error: Error | null): Readonly<Record<string, string>> =>
  error instanceof ProblemError
    ? Object.fromEntries(
        (error.problem.errors ?? []).map(({ pointer, detail }) => [(pointer ?? "").slice(1).split("/")[0], detail]),
      )
    : {};
