import { clock } from "#lib/audit/transact.ts";
import { FRESH_SESSION_MS } from "#lib/identity/step-up-limits.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import type { Act } from "#lib/identity/passkeys/passkey-challenge.ts";
import { otherWaysIn, passkeysOf, provedAt } from "#lib/identity/passkeys/store.ts";
import { Problem } from "#lib/problem.ts";
import { ageOf, minutes } from "#lib/time.ts";

/** To add or remove a passkey, a person must have proved their identity within this time. */
export const PROVED_MS = minutes(5);

export const isProved = (at: Date | null, now: Date): boolean => at !== null && ageOf(at, now) <= PROVED_MS;

export type Prover = { readonly userId: string; readonly sessionId: string };

/** @throws Problem step_up_required unless the person proved their identity within PROVED_MS in this session */
export async function requireProved(db: Database | Tx, by: Prover, now: Date): Promise<void> {
  if (isProved(await provedAt(db, by.sessionId), now)) return;
  throw await stepUpFor(db, by, "Confirm that it is you first: this changes how you sign in.");
}

/** Call this before giving a right, which a stolen or unattended session must not do. @throws Problem step_up_required */
export async function requireProvedToGive(tx: Tx, by: Prover): Promise<void> {
  const at = await provedAt(tx, by.sessionId);
  const now = await clock(tx);
  if (at !== null && ageOf(at, now) <= FRESH_SESSION_MS) return;
  throw await stepUpFor(tx, by, "Confirm that it is you first: this gives a right to somebody.");
}

/** Proves one act, by stepUp; without `act`, the session, by confirmIdentity. A person with no method must sign in again. */
export async function stepUpFor(
  db: Database | Tx,
  { userId }: Pick<Prover, "userId">,
  detail: string,
  act?: Act,
): Promise<Problem> {
  const hasPassword = (await otherWaysIn(db, userId)).includes("emailPassword");
  const hasPasskey = (await passkeysOf(db, userId)).length > 0;
  const methods = [...(hasPassword ? ["password"] : []), ...(hasPasskey ? ["passkey"] : [])];
  return new Problem("step_up_required", {
    detail,
    nextActions: [
      {
        type: "step_up",
        label: "Confirm that it is you",
        href: act ? "/api/v1/auth/step-up" : "/api/v1/auth/confirm",
        metadata: { methods, ...(act && { act }) },
      },
    ],
  });
}
