import { minutes } from "#lib/time.ts";

/**
 * Ids contain the time at which they were made, and rows are stored a little later. So a range of ids is this much wider than the
 * range of time.
 */
export const ID_SLACK_MS = minutes(60);
