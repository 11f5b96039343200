import { requestAgeMs } from "#lib/db/request.ts";
import { env } from "#lib/env.ts";

/** Milliseconds that a facilitator may take to answer. After that, the outcome of the settlement counts as unknown. */
export const facilitatorTimeoutMs = (): number => env().FACILITATOR_TIMEOUT_MS;
/**
 * Milliseconds that our own facilitator waits for a block before it answers that the transaction is pending. It must be shorter than the
 * facilitator's timeout.
 */
export const confirmationTimeoutMs = (): number => facilitatorTimeoutMs() * 0.6;
/**
 * Milliseconds of the lease on a submission. When the lease ends, the process that submitted is assumed to be dead, and another one
 * continues.
 */
export const leaseMs = (): number => facilitatorTimeoutMs() + 25_000;

/**
 * Milliseconds after its start at which a request stops waiting for the chain, so that it can still store the result before its own
 * deadline.
 */
const ANSWER_MS = 24_000;

/** Shortens a wait to the time that the request has left. Outside of a request the wait is not shortened. */
export function patience(milliseconds: number): number {
  const age = requestAgeMs();
  return age === null ? milliseconds : Math.max(0, Math.min(milliseconds, ANSWER_MS - age));
}
