import { clock, transact } from "#lib/audit/transact.ts";
import { checkoutChanged, STEP_UP_MS } from "#lib/approvals/decision/approval.ts";
import type * as contract from "#lib/approvals/decision/contract.ts";
import { insertStepUps } from "#lib/approvals/decision/step-up-store.ts";
import { subjectOf, type StepUpSubject } from "#lib/approvals/decision/step-up-subject.ts";
import { database } from "#lib/db/client.ts";
import type { Handler, SessionCaller } from "#lib/http/operation.ts";
import { countProof, requirePassword } from "#lib/identity/require-password.ts";
import { boundChallenge, claimedChallenge } from "#lib/identity/passkeys/passkey-challenge.ts";
import { insertActProof } from "#lib/identity/passkeys/act-proof-store.ts";
import type { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";
import { countUse, takeChallenge } from "#lib/identity/passkeys/store.ts";
import { assertionRefused, verifyAssertion, type AssertionResult } from "#lib/identity/passkeys/verify-assertion.ts";
import { newId } from "#lib/ids.ts";
import { toWire } from "#lib/time.ts";

/** Ignores the idempotency key, because a stored fast hash of the request would let a reader of the hash guess the password. */
export const stepUp: Handler<typeof contract.stepUp> = async ({ body }, { caller }) => {
  const { password, assertion, ...asked } = body;
  const { userId, sessionId } = caller;
  const subject = await subjectOf(database(), asked, caller, await clock(database()));
  if (!subject) throw new Error("The schema asks for one subject.");
  const asserted = assertion ? await byPasskey(assertion, subject, body.checkoutIntentId ?? null, caller) : null;
  if (password !== undefined) await requirePassword(userId, password, "/password");
  return transact(async (tx) => {
    const now = await clock(tx);
    if (asserted && !(await countUse(tx, asserted.passkey.id, asserted.counter, now))) throw assertionRefused();
    const made = {
      sessionId,
      userId,
      passkeyId: asserted?.passkey.id ?? null,
      expiresAt: new Date(now.getTime() + STEP_UP_MS),
      createdAt: now,
    };
    // Each request gets a proof of its own for its own terms, so that one that is refused does not carry the others.
    const proofs = subject.checkouts.map(({ checkoutIntentId, basketHash, amount, payTo }) => ({
      ...made,
      stepUpId: newId("stepUp"),
      checkoutIntentId,
      method: asserted ? "passkey" : "password",
      basketHash,
      amount,
      payTo,
    }));
    await insertStepUps(tx, proofs);
    const proofId = proofs[0]?.stepUpId ?? newId("stepUp");
    if (subject.act) await insertActProof(tx, { ...made, ...subject.act, proofId });
    return { stepUpId: proofId, expiresAt: toWire(made.expiresAt) };
  });
};

/** The challenge is computed from what is stored now, so that a signature over another list, sum or other terms is refused. */
async function byPasskey(
  assertion: PasskeyAssertion,
  { parts }: StepUpSubject,
  checkoutIntentId: string | null,
  { userId, sessionId }: SessionCaller,
): Promise<AssertionResult> {
  await countProof(userId);
  const claimed = claimedChallenge(assertion.response.clientDataJSON);
  const issued = claimed === null ? null : await takeChallenge("stepUp", sessionId, claimed);
  if (!issued || issued.checkoutIntentId !== checkoutIntentId) throw assertionRefused();
  const expected = boundChallenge(parts, issued.nonce ?? "");
  if (expected !== issued.challenge) throw checkoutChanged();
  return verifyAssertion(assertion, userId, expected);
}
