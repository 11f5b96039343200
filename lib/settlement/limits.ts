import { requestAgeMs } from "#lib/db/request.ts";
import { env } from "#lib/env.ts";

/** Milliseconds that a facilitator may take to answer. After that, the service looks for the outcome on the chain. */
export const facilitatorTimeoutMs = (): number => env().FACILITATOR_TIMEOUT_MS;
/** Milliseconds to wait for a block; settlingMs uses the rest of the facilitator's timeout. */
export const confirmationTimeoutMs = (): number => facilitatorTimeoutMs() * 0.6;
/** Milliseconds after which the process that submits a payment counts as dead, and a worker continues. */
export const leaseMs = (): number => facilitatorTimeoutMs() + 25_000;

/** Milliseconds after the start of a request at which the waits that patience() shortens end. */
const ANSWER_MS = 24_000;

/** Shortens a wait to the time that is left for the request, if there is a request. */
export function patience(milliseconds: number): number {
  const age = requestAgeMs();
  return age === null ? milliseconds : Math.max(0, Math.min(milliseconds, ANSWER_MS - age));
}
