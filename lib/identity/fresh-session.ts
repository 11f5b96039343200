import { minutes } from "#lib/time.ts";

/** A sign-in counts as recent for this time, because an older one does not prove who uses the session now. */
export const FRESH_SESSION_MS = minutes(15);
