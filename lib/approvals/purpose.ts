import { readChallenge } from "#lib/x402/compare-challenge.ts";

/** In characters. A longer purpose is cut. */
export const PURPOSE_MAX = 140;
/** At most this many characters are read; the rest is ignored. */
export const PURPOSE_READ_MAX = 8 * PURPOSE_MAX;

/** The asker's own words, unchecked, on one line. */
export const purposeOf = (metadata: Readonly<Record<string, unknown>> | null): string | undefined => line(metadata?.["purpose"]);

/** The seller's own words for the resource in its 402, unchecked, on one line. */
export const titleOf = (challenge: unknown): string | undefined => line(readChallenge(challenge)?.resource?.description);

function line(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  // Cut first, because the text may be very long and the spread makes an array of all its characters.
  const start = [...text.slice(0, PURPOSE_READ_MAX).replace(/\s+/gu, " ").trim()];
  if (start.length === 0) return undefined;
  return start.length > PURPOSE_MAX ? `${start.slice(0, PURPOSE_MAX - 1).join("")}…` : start.join("");
}
