import { minutes } from "#lib/time.ts";

/** A sign-in or proof of identity counts as recent for this time; an older one does not prove who uses the session now. */
export const FRESH_SESSION_MS = minutes(15);
