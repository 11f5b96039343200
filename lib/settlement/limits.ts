import { env } from "#lib/env.ts";

/** How long a facilitator may take to answer; a settlement that takes longer goes on as unknown. */
export const facilitatorTimeoutMs = (): number => env().FACILITATOR_TIMEOUT_MS;
/** How long our own facilitator waits for a block before it says that a transaction is pending: less than it may take. */
export const confirmationTimeoutMs = (): number => facilitatorTimeoutMs() * 0.6;
/** After that nobody works on a submission any more: whoever did is gone. */
export const leaseMs = (): number => facilitatorTimeoutMs() + 25_000;
