import { minutes } from "#lib/time.ts";

/** A sign-in counts as recent for this many milliseconds. An older sign-in does not prove who uses the session now. */
export const FRESH_SESSION_MS = minutes(15);
