import { verifyPassword } from "better-auth/crypto";
import { clock, transact } from "#lib/audit/transact.ts";
import { requireOpen, STEP_UP_MS } from "#lib/commerce/approval.ts";
import { findCheckout, insertStepUp } from "#lib/commerce/store.ts";
import { database } from "#lib/db/client.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/identity/contract.ts";
import { passwordHashOf } from "#lib/identity/user-store.ts";
import { newId } from "#lib/ids.ts";
import { invalidField, notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

const TRIES_PER_MINUTE = 5;

/** An idempotency key is not looked at: its fingerprint would be a fast hash of the password. */
export const stepUp: Handler<typeof contract.stepUp> = async ({ body }, { caller }) => {
  const { checkoutIntentId, password } = body;
  const { organizationId, environment, userId, sessionId } = caller;
  const checkout =
    organizationId === null ? null : await findCheckout(database(), { organizationId, environment }, checkoutIntentId);
  if (!checkout) throw notFound("checkout");
  requireOpen({ ...checkout, status: checkout.status as CheckoutStatus }, await clock(database()));
  await countAttempt("stepUp", userId, TRIES_PER_MINUTE);
  const hash = await passwordHashOf(userId);
  if (hash === null || !(await verifyPassword({ hash, password }))) throw invalidField("/password", "This is not your password.");
  return transact(async (tx) => {
    const now = await clock(tx);
    const expiresAt = new Date(now.getTime() + STEP_UP_MS);
    const stepUpId = newId("stepUp");
    await insertStepUp(tx, { stepUpId, sessionId, userId, checkoutIntentId, method: "password", expiresAt, createdAt: now });
    return { stepUpId, expiresAt: toWire(expiresAt) };
  });
};
