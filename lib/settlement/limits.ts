/** How long a facilitator may take to answer; a settlement that takes longer goes on as unknown. */
export const FACILITATOR_TIMEOUT_MS = 20_000;
/** How long our own facilitator waits for a block before it says that a transaction is pending. */
export const CONFIRMATION_TIMEOUT_MS = 12_000;
/** After that nobody works on a submission any more: whoever did is gone. */
export const TOTAL_TIMEOUT_MS = 45_000;
