import { env } from "#lib/env.ts";

/** Refuses to serve with a configuration that is not usable. Nothing else happens here: server.ts starts what runs. */
export function register(): void {
  if (process.env["NEXT_RUNTIME"] === "nodejs") env();
}
