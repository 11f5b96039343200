import { minutes } from "#lib/time.ts";

/**
 * Ids contain the time by the clock of the process that made them, and rows the time by the database's clock. These times
 * differ, so a query for a range of time reads a range of ids that is wider by this much.
 */
export const ID_SLACK_MS = minutes(60);
