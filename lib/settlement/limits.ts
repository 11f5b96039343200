import { requestAgeMs } from "#lib/db/request.ts";
import { env } from "#lib/env.ts";

/** How long a facilitator may take to answer; a settlement that takes longer goes on as unknown. */
export const facilitatorTimeoutMs = (): number => env().FACILITATOR_TIMEOUT_MS;
/** How long our own facilitator waits for a block before it says that a transaction is pending: less than it may take. */
export const confirmationTimeoutMs = (): number => facilitatorTimeoutMs() * 0.6;
/** After that nobody works on a submission any more: whoever did is gone. */
export const leaseMs = (): number => facilitatorTimeoutMs() + 25_000;

/** A request that waits for the chain is answered with what is known by then: before its deadline, with time to book it. */
const ANSWER_MS = 24_000;

/** What is left of a wait. Outside of requests nobody waits for an answer. */
export function patience(milliseconds: number): number {
  const age = requestAgeMs();
  return age === null ? milliseconds : Math.max(0, Math.min(milliseconds, ANSWER_MS - age));
}
