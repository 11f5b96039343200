import { hashPassword } from "better-auth/crypto";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { requirePassword } from "#lib/identity/require-password.ts";
import { setProved } from "#lib/identity/passkeys/store.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";
import { securityMail } from "#lib/identity/security-mail.ts";
import { deleteOtherSessions } from "#lib/identity/sessions/session-store.ts";
import { replacePassword } from "#lib/identity/user-store.ts";
import { queueMail } from "#lib/mail/queue-mail.ts";
import { invalidField } from "#lib/problem.ts";

/** Ignores the idempotency key, because whoever reads the stored hash of a request could guess the password with it. */
export const changePassword: Handler<typeof contract.changePassword> = async ({ body }, { caller }) => {
  const { currentPassword, newPassword } = body;
  const { userId, sessionId, organizationId } = caller;
  const hash = await requirePassword(userId, currentPassword, "/currentPassword");
  const newHash = await hashPassword(newPassword);
  return transact(async (tx) => {
    await closeGate(tx, organizationId ?? userId);
    const person = await lockPerson(tx, caller);
    if (!(await replacePassword(tx, userId, hash, newHash))) {
      throw invalidField("/currentPassword", "This is no longer your password.");
    }
    const endedCount = await deleteOtherSessions(tx, userId, sessionId);
    const now = await clock(tx);
    await setProved(tx, sessionId, now);
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
    audit(tx, { ...event, type: "password.changed", metadata: { endedCount } }, now);
    await queueMail(tx, securityMail("passwordChanged", person.email));
    return { endedCount };
  });
};
