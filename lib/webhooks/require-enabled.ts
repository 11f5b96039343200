import { Problem } from "#lib/problem.ts";
import type { EndpointRow } from "#lib/webhooks/endpoint-store.ts";

/** @throws Problem conflict */
export function requireEnabled({ status }: EndpointRow): void {
  if (status !== "enabled")
    throw new Problem("conflict", { detail: `This webhook endpoint is ${status}, so nothing is sent to it. Enable it first.` });
}
