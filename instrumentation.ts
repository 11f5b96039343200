import type { Instrumentation } from "next";
import { env } from "#lib/env.ts";

/** Refuses to start with an invalid configuration. server.ts starts everything else. */
export function register(): void {
  if (process.env["NEXT_RUNTIME"] === "nodejs") env();
}

/** The digest is the error id that the page shows. The path is not logged, because it may contain an invitation's token. */
export const onRequestError: Instrumentation.onRequestError = async (error, _request, { routePath }) => {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { log } = await import("#lib/telemetry/log.ts");
  const digest = typeof error === "object" && error !== null && "digest" in error ? String(error.digest) : undefined;
  log().error({ error, digest, page: routePath }, "A page failed");
};
