import { clock, transact } from "#lib/audit/transact.ts";
import { requireReviewed } from "#lib/approvals/decision/approval.ts";
import { findReview } from "#lib/approvals/decision/step-up-store.ts";
import { subjectOf } from "#lib/approvals/decision/step-up-subject.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import type { Handler } from "#lib/http/operation.ts";
import {
  boundChallenge,
  CHALLENGE_MS,
  CHALLENGES_PER_MINUTE,
  newNonce,
  requestOptions,
} from "#lib/identity/passkeys/passkey-challenge.ts";
import type * as contract from "#lib/identity/passkeys/contract.ts";
import { insertPasskeyChallenge, passkeysOf } from "#lib/identity/passkeys/store.ts";
import { Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

/** Each request gets a new challenge, so the idempotency key is ignored. */
export const challengePasskey: Handler<typeof contract.challengePasskey> = async ({ body }, { caller }) => {
  const { userId, sessionId } = caller;
  const { checkoutIntentId = null } = body;
  await countAttempt("passkeyChallenge", userId, CHALLENGES_PER_MINUTE);
  return transact(async (tx) => {
    const now = await clock(tx);
    const subject = await subjectOf(tx, body, caller, now);
    if (subject && checkoutIntentId !== null)
      requireReviewed(await findReview(tx, sessionId, checkoutIntentId), subject.checkouts[0]!, now);
    const fresh = newNonce();
    // The challenge is a hash of what it is for and a nonce, so that a signature is valid for nothing else.
    const issued = subject
      ? { kind: "stepUp", challenge: boundChallenge(subject.parts, fresh), nonce: fresh }
      : { kind: "confirm", challenge: fresh, nonce: null };
    const passkeys = await passkeysOf(tx, userId);
    if (passkeys.length === 0) throw noPasskey();
    const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
    await insertPasskeyChallenge(tx, { ...issued, checkoutIntentId, sessionId, userId, expiresAt });
    return {
      options: requestOptions(issued.challenge, passkeys),
      expiresAt: toWire(expiresAt),
      ...(issued.nonce !== null && { nonce: issued.nonce }),
    };
  });
};

const noPasskey = (): Problem =>
  new Problem("conflict", {
    detail: "You have no passkey yet. Add one on the security page, then come back.",
    nextActions: [{ type: "step_up", label: "Add a passkey", href: "/settings/security" }],
  });
