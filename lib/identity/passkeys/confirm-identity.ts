import { clock, transact } from "#lib/audit/transact.ts";
import type { Handler, SessionCaller } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { countProof, requirePassword } from "#lib/identity/require-password.ts";
import { claimedChallenge } from "#lib/identity/passkeys/passkey-challenge.ts";
import type * as contract from "#lib/identity/passkeys/contract.ts";
import type { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";
import { countUse, setProved, takeChallenge } from "#lib/identity/passkeys/store.ts";
import { PROVED_MS } from "#lib/identity/passkeys/fresh-proof.ts";
import { assertionRefused, verifyAssertion, type AssertionResult } from "#lib/identity/passkeys/verify-assertion.ts";
import { toWire } from "#lib/time.ts";

/** Ignores the idempotency key, because whoever reads the stored hash of a request could guess the password with it. */
export const confirmIdentity: Handler<typeof contract.confirmIdentity> = async ({ body }, { caller }) => {
  const { password, assertion } = body;
  const asserted = assertion ? await byPasskey(assertion, caller) : null;
  if (password !== undefined) await requirePassword(caller.userId, password, "/password");
  return transact(async (tx) => {
    await lockPerson(tx, caller);
    const now = await clock(tx);
    if (asserted && !(await countUse(tx, asserted.passkey.id, asserted.counter, now))) throw assertionRefused();
    await setProved(tx, caller.sessionId, now);
    return { expiresAt: toWire(new Date(now.getTime() + PROVED_MS)) };
  });
};

async function byPasskey(assertion: PasskeyAssertion, { userId, sessionId }: SessionCaller): Promise<AssertionResult> {
  await countProof(userId);
  const claimed = claimedChallenge(assertion.response.clientDataJSON);
  const issued = claimed === null ? null : await takeChallenge("confirm", sessionId, claimed);
  if (!issued) throw assertionRefused();
  return verifyAssertion(assertion, userId, issued.challenge);
}
