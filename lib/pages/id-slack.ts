import { minutes } from "#lib/time.ts";

/**
 * Ids contain the time at which they were made, and rows are stored a little later. So a query for a range of time reads a
 * range of ids that is wider by this much.
 */
export const ID_SLACK_MS = minutes(60);
