import { minutes } from "#lib/time.ts";

/** Ids have the time of a process and rows the time of the database, so a range of ids must be wider by this much. */
export const ID_SLACK_MS = minutes(60);
