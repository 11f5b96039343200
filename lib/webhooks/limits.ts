import { onceMsMax, standardLimits } from "#lib/outbound/guarded-fetch.ts";

/** After the look-up, one try takes at most 15 seconds: 2 to connect, 10 for the headers and 3 for the body. */
export const sendLimits = { ...standardLimits, headersMs: 10_000, bodyMs: 3_000 } as const;

/** The longest wait for a database connection of the senders. */
export const TURN_MS = 30_000;

/**
 * A process reserves a delivery for this time: enough to send the message, to end the sender's turn that runs when the answer
 * arrives, and to begin the turn that stores it.
 */
export const DELIVERY_LEASE_MS = onceMsMax(sendLimits) + 2 * TURN_MS;
