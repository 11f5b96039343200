import { clock } from "#lib/audit/transact.ts";
import { FRESH_SESSION_MS } from "#lib/identity/fresh-session.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { otherWaysIn, passkeysOf, provedAt } from "#lib/identity/passkeys/store.ts";
import { Problem } from "#lib/problem.ts";
import { minutes } from "#lib/time.ts";

/** A person must have confirmed their identity within this time to change how they sign in. It is equal to the time of a step-up. */
export const PROVED_MS = minutes(5);

export const isProved = (at: Date | null, now: Date): boolean => at !== null && now.getTime() - at.getTime() <= PROVED_MS;

type Prover = { readonly userId: string; readonly sessionId: string };

/** @throws Problem step_up_required */
export async function requireProved(db: Database | Tx, by: Prover, now: Date): Promise<void> {
  if (isProved(await provedAt(db, by.sessionId), now)) return;
  throw await stepUpFor(db, by, "Confirm that it is you first: this changes how you sign in.");
}

/**
 * Call it before a right is given, so that an unattended or stolen session can give no rights. Taking a right away needs no proof. The
 * proof is stored with the session and is valid for FRESH_SESSION_MS, like a sign-in for an approval.
 * @throws Problem step_up_required
 */
export async function requireProvedToGive(tx: Tx, by: Prover): Promise<void> {
  const at = await provedAt(tx, by.sessionId);
  const now = await clock(tx);
  if (at !== null && now.getTime() - at.getTime() <= FRESH_SESSION_MS) return;
  throw await stepUpFor(tx, by, "Confirm that it is you first: this gives a right to somebody.");
}

/** Names the methods by which this person can confirm their identity; none if only a new sign-in can do it. */
async function stepUpFor(db: Database | Tx, { userId }: Prover, detail: string): Promise<Problem> {
  const hasPassword = (await otherWaysIn(db, userId)).includes("emailPassword");
  const hasPasskey = (await passkeysOf(db, userId)).length > 0;
  const methods = [...(hasPassword ? ["password"] : []), ...(hasPasskey ? ["passkey"] : [])];
  return new Problem("step_up_required", {
    detail,
    nextActions: [{ type: "step_up", label: "Confirm that it is you", href: "/api/v1/auth/confirm", metadata: { methods } }],
  });
}
