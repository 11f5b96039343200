import type { Instrumentation } from "next";
import { env } from "#lib/env.ts";

/** Next.js calls this when it starts. With an invalid configuration, env() throws and stops the start. */
export function register(): void {
  if (process.env["NEXT_RUNTIME"] === "nodejs") env();
}

/** The digest is the error id that the page shows. Logs the route and not the URL, which may contain an invitation's token. */
export const onRequestError: Instrumentation.onRequestError = async (error, _request, { routePath }) => {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { log } = await import("#lib/telemetry/log.ts");
  const digest = typeof error === "object" && error !== null && "digest" in error ? String(error.digest) : undefined;
  log().error({ error, digest, page: routePath }, "A page failed");
};
