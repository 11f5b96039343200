import { minutes } from "#lib/time.ts";

/** The timestamp in an id may be earlier than its row's time, so a range of ids is this much wider than the range of time. */
export const ID_SLACK_MS = minutes(60);
