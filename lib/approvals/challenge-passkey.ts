import { clock, transact } from "#lib/audit/transact.ts";
import { requireOpen, requireReviewed } from "#lib/approvals/approval.ts";
import { findReview } from "#lib/approvals/step-up-store.ts";
import { findCheckout } from "#lib/approvals/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import type { Handler, SessionCaller } from "#lib/http/operation.ts";
import {
  boundChallenge,
  CHALLENGE_MS,
  CHALLENGES_PER_MINUTE,
  newNonce,
  requestOptions,
} from "#lib/identity/passkeys/passkey-challenge.ts";
import type * as contract from "#lib/identity/passkeys/contract.ts";
import { insertChallenge, passkeysOf } from "#lib/identity/passkeys/store.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

/** Each request gets a new challenge, so the idempotency key is ignored. */
export const challengePasskey: Handler<typeof contract.challengePasskey> = async ({ body }, { caller }) => {
  const { userId, sessionId } = caller;
  const { checkoutIntentId = null } = body;
  await countAttempt("passkeyChallenge", userId, CHALLENGES_PER_MINUTE);
  return transact(async (tx) => {
    const now = await clock(tx);
    const issued =
      checkoutIntentId === null ? { challenge: newNonce(), nonce: null } : await bound(tx, checkoutIntentId, caller, now);
    const passkeys = await passkeysOf(tx, userId);
    if (passkeys.length === 0) throw noPasskey();
    const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
    const kind = checkoutIntentId === null ? "confirm" : "stepUp";
    await insertChallenge(tx, { ...issued, kind, checkoutIntentId, sessionId, userId, expiresAt });
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

/** The challenge is a hash of the checkout's terms and a nonce, so that a signature is valid for these terms only. */
async function bound(tx: Tx, checkoutIntentId: string, { organizationId, environment, sessionId }: SessionCaller, now: Date) {
  const checkout = organizationId === null ? null : await findCheckout(tx, { organizationId, environment }, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, now);
  requireReviewed(await findReview(tx, sessionId, checkoutIntentId), checkout, now);
  const nonce = newNonce();
  return { challenge: boundChallenge(checkout, nonce), nonce };
}
