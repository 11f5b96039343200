import { minutes } from "#lib/time.ts";

/** A sign-in or proof of identity counts as recent for this time, except for changes of passkeys (PROVED_MS). */
export const FRESH_SESSION_MS = minutes(15);
