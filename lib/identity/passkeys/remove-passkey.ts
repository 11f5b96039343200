import { audit, clock } from "#lib/audit/transact.ts";
import { closeGate } from "#lib/command/gate-store.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { deletePasskey, otherWaysIn, passkeysOf } from "#lib/identity/passkeys/store.ts";
import { presentPasskey } from "#lib/identity/passkeys/present-passkey.ts";
import { requireProved } from "#lib/identity/passkeys/fresh-proof.ts";
import { securityMail } from "#lib/identity/security-mail.ts";
import { queueMail } from "#lib/mail/queue-mail.ts";
import { notFound, Problem } from "#lib/problem.ts";

/** Step-ups with this passkey that are not used yet become invalid; closeGate waits for approvals that use one now. */
export const removePasskey: Handler<typeof contract.removePasskey> = ({ passkeyId }, { caller, idempotency }) =>
  once(contract.removePasskey, idempotency, async (tx) => {
    const { userId, organizationId } = caller;
    await closeGate(tx, organizationId ?? userId);
    const person = await lockPerson(tx, caller);
    const row = await deletePasskey(tx, userId, passkeyId);
    if (!row) throw notFound("passkey");
    const now = await clock(tx);
    await requireProved(tx, caller, now);
    const left = (await passkeysOf(tx, userId)).length + (await otherWaysIn(tx, userId)).length;
    if (left === 0) {
      throw new Problem("conflict", { detail: "This is your last way to sign in. Add another passkey or a password first." });
    }
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "passkey", entityId: row.id };
    audit(tx, { ...event, type: "passkey.removed", metadata: { name: row.name } }, now);
    await queueMail(tx, securityMail("passkeyRemoved", person.email));
    return presentPasskey(row);
  });
