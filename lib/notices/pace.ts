import { minutes } from "#lib/time.ts";

/** A mail about several requests. While `isOpen`, further requests can join it. `at` is when it ended or is due. */
export type Digest = { readonly mailId: string; readonly isOpen: boolean; readonly at: Date };

/** The mails from one organization to one person in the last ten minutes: how many about one request, and the newest digest. */
export type Recent = { readonly singles: number; readonly digest: Digest | null };

export type Pace =
  | { readonly as: "single" }
  | { readonly as: "joined"; readonly mailId: string }
  | { readonly as: "digest"; readonly sendAt: Date };

export const WINDOW_MS = minutes(10);
const SINGLES_MAX = 3;
const DIGEST_EVERY_MS = minutes(5);

/** Three mails about single requests in ten minutes, then at most one digest every five: an agent cannot flood approvers. */
export function paceOf({ singles, digest }: Recent, now: Date): Pace {
  if (singles < SINGLES_MAX) return { as: "single" };
  if (digest?.isOpen) return { as: "joined", mailId: digest.mailId };
  const next = digest ? digest.at.getTime() + DIGEST_EVERY_MS : 0;
  return { as: "digest", sendAt: new Date(Math.max(now.getTime(), next)) };
}
