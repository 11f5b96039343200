import { minutes } from "#lib/time.ts";

/** How old a sign-in may be. An older sign-in does not prove who uses the session now. */
export const FRESH_SESSION_MS = minutes(15);
