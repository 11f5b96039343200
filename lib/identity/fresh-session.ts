import { minutes } from "#lib/time.ts";

/** An older session proves too little about who sits in front of the screen. */
export const FRESH_SESSION_MS = minutes(15);
