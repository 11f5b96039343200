import { createHmac, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { prefixes } from "#lib/ids.ts";

/* cit_<id>_<proof>: an id is no secret, so the proof is an HMAC, which this service can compute again for another mail. */

const FORM = /^cit_([0-9a-z]{26})_([A-Za-z0-9_-]{43})$/;

const proofOf = (invitationId: string): Buffer =>
  createHmac("sha256", env().API_KEY_SECRET).update(`countersign.invitation.v1\n${invitationId}`).digest();

export const invitationTokenOf = (invitationId: string): string =>
  `cit_${invitationId.slice(prefixes.invitation.length + 1)}_${proofOf(invitationId).toString("base64url")}`;

/** Null unless this service made the token, with the current API_KEY_SECRET. */
export function invitationIdOf(invitationToken: string): string | null {
  const parts = FORM.exec(invitationToken);
  if (!parts) return null;
  const [, id = "", proof = ""] = parts;
  const invitationId = `${prefixes.invitation}_${id}`;
  const presented = Buffer.from(proof, "base64url");
  const expected = proofOf(invitationId);
  return presented.length === expected.length && timingSafeEqual(presented, expected) ? invitationId : null;
}
