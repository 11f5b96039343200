import { requestAgeMs } from "#lib/db/request.ts";
import { env } from "#lib/env.ts";

/** How long a facilitator may take to answer; a settlement that takes longer goes on as unknown. */
export const facilitatorTimeoutMs = (): number => env().FACILITATOR_TIMEOUT_MS;
/** How long our own facilitator waits for a block before it answers that a transaction is pending; shorter than its timeout. */
export const confirmationTimeoutMs = (): number => facilitatorTimeoutMs() * 0.6;
/** The lease on a submission. When it ends, the process that worked on the submission is assumed to be dead. */
export const leaseMs = (): number => facilitatorTimeoutMs() + 25_000;

/** At this age a request stops waiting for the chain, so that the result can be booked before the request's deadline. */
const ANSWER_MS = 24_000;

/** Shortens a wait to the time that the request has left. Outside of a request the wait is not shortened. */
export function patience(milliseconds: number): number {
  const age = requestAgeMs();
  return age === null ? milliseconds : Math.max(0, Math.min(milliseconds, ANSWER_MS - age));
}
