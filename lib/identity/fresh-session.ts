import { minutes } from "#lib/time.ts";

/** An older sign-in proves too little about who sits in front of the screen now. */
export const FRESH_SESSION_MS = minutes(15);
