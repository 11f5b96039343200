import { requestAgeMs } from "#lib/db/request.ts";
import { env } from "#lib/env.ts";

/** Milliseconds that a facilitator may take to answer. After that, the outcome of the settlement counts as unknown. */
export const facilitatorTimeoutMs = (): number => env().FACILITATOR_TIMEOUT_MS;
/**
 * Milliseconds that the service's own facilitator waits for a block before it answers that the transaction is pending. The time
 * must be shorter than the facilitator's timeout; settlingMs uses the rest of that timeout.
 */
export const confirmationTimeoutMs = (): number => facilitatorTimeoutMs() * 0.6;
/**
 * Milliseconds for which the process that submits a payment has the lease on it. When the lease ends, that process counts as
 * dead, and another process continues.
 */
export const leaseMs = (): number => facilitatorTimeoutMs() + 25_000;

/**
 * How many milliseconds after its start a request stops waiting for the chain, so that it can store the result before its own
 * time limit.
 */
const ANSWER_MS = 24_000;

/** Shortens a wait to the time that is left for the request. Outside of a request the wait is not shortened. */
export function patience(milliseconds: number): number {
  const age = requestAgeMs();
  return age === null ? milliseconds : Math.max(0, Math.min(milliseconds, ANSWER_MS - age));
}
