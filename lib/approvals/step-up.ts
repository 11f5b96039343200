import { clock, transact } from "#lib/audit/transact.ts";
import { checkoutChanged, requireOpen, STEP_UP_MS } from "#lib/approvals/approval.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type * as contract from "#lib/approvals/contract.ts";
import { insertStepUp } from "#lib/approvals/step-up-store.ts";
import { findCheckout } from "#lib/approvals/store.ts";
import { database } from "#lib/db/client.ts";
import type { Handler, SessionCaller } from "#lib/http/operation.ts";
import { countProof, requirePassword } from "#lib/identity/require-password.ts";
import { boundChallenge, claimedChallenge } from "#lib/identity/passkeys/passkey-challenge.ts";
import type { PasskeyAssertion } from "#lib/identity/passkey-schema.ts";
import { countUse, takeChallenge } from "#lib/identity/passkeys/store.ts";
import { assertionRefused, verifyAssertion, type AssertionResult } from "#lib/identity/passkeys/verify-assertion.ts";
import { newId } from "#lib/ids.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** Ignores the idempotency key, because a stored fast hash of the request would let a reader of the hash guess the password. */
export const stepUp: Handler<typeof contract.stepUp> = async ({ body }, { caller }) => {
  const { checkoutIntentId, password, assertion } = body;
  const { organizationId, environment, userId, sessionId } = caller;
  const checkout =
    organizationId === null ? null : await findCheckout(database(), { organizationId, environment }, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, await clock(database()));
  const asserted = assertion ? await byPasskey(assertion, checkout, caller) : null;
  if (password !== undefined) await requirePassword(userId, password, "/password");
  return transact(async (tx) => {
    const now = await clock(tx);
    if (asserted && !(await countUse(tx, asserted.passkey.id, asserted.counter, now))) throw assertionRefused();
    const expiresAt = new Date(now.getTime() + STEP_UP_MS);
    const stepUpId = newId("stepUp");
    const made = { stepUpId, sessionId, userId, checkoutIntentId, expiresAt, createdAt: now };
    await insertStepUp(tx, { ...made, ...(asserted ? signedBy(asserted, checkout) : { method: "password" }) });
    return { stepUpId, expiresAt: toWire(expiresAt) };
  });
};

const signedBy = ({ passkey }: AssertionResult, { basketHash, amount, payTo }: CheckoutRow) => ({
  method: "passkey",
  passkeyId: passkey.id,
  basketHash,
  amount,
  payTo,
});

/** The challenge is computed from the checkout as it is now, so that a signature over other terms is refused. */
async function byPasskey(
  assertion: PasskeyAssertion,
  checkout: CheckoutRow,
  { userId, sessionId }: SessionCaller,
): Promise<AssertionResult> {
  await countProof(userId);
  const claimed = claimedChallenge(assertion.response.clientDataJSON);
  const issued = claimed === null ? null : await takeChallenge("stepUp", sessionId, claimed);
  if (issued?.checkoutIntentId !== checkout.checkoutIntentId) throw assertionRefused();
  const expected = boundChallenge(checkout, issued.nonce ?? "");
  if (expected !== issued.challenge) throw checkoutChanged();
  return verifyAssertion(assertion, userId, expected);
}
