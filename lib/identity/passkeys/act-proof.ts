import { createHash } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import type { Tx } from "#lib/db/client.ts";
import { stepUpFor, type Prover } from "#lib/identity/passkeys/fresh-proof.ts";
import type { Act } from "#lib/identity/passkeys/passkey-challenge.ts";
import { takeActProof } from "#lib/identity/passkeys/act-proof-store.ts";

/** `terms` names everything that the proof allows, so that a proof of one act allows no other act. */
export const actOf = (subjectId: string, terms: unknown): Act => ({
  subjectId,
  terms: createHash("sha256").update(canonicalJson(terms)).digest("base64url"),
});

/** Call this before an act that a sign-in does not prove. @throws Problem step_up_required */
export async function requireActProof(tx: Tx, by: Prover, act: Act, detail: string): Promise<void> {
  if (!(await takeActProof(tx, by, act))) throw await stepUpFor(tx, by, detail, act);
}
