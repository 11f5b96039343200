import { createHmac, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { prefixes } from "#lib/ids.ts";

/*
 * cit_<id>_<proof>. The id appears in the audit log and in lists. The proof is derived from it with the server's key, so only the mail
 * contains the whole token, and the same token can be sent again without being stored.
 */

const FORM = /^cit_([0-9a-z]{26})_([A-Za-z0-9_-]{43})$/;

const proofOf = (invitationId: string): Buffer =>
  createHmac("sha256", env().API_KEY_SECRET).update(`countersign.invitation.v1\n${invitationId}`).digest();

/** The secret of an invitation, for its link `/invitations/{invitationToken}`. */
export const invitationTokenOf = (invitationId: string): string =>
  `cit_${invitationId.slice(prefixes.invitation.length + 1)}_${proofOf(invitationId).toString("base64url")}`;

/** The invitationId of a token of ours; null for everything else. */
export function invitationIdOf(invitationToken: string): string | null {
  const parts = FORM.exec(invitationToken);
  if (!parts) return null;
  const [, id = "", proof = ""] = parts;
  const invitationId = `${prefixes.invitation}_${id}`;
  const presented = Buffer.from(proof, "base64url");
  const expected = proofOf(invitationId);
  return presented.length === expected.length && timingSafeEqual(presented, expected) ? invitationId : null;
}
