import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import * as contract from "#lib/notices/contract.ts";
import { readSettings, saveSettings } from "#lib/notices/settings-store.ts";

export const setNotices: Handler<typeof contract.setNotices> = ({ body: { mail } }, { caller, idempotency }) =>
  once(contract.setNotices, idempotency, async (tx) => {
    await lockPerson(tx, caller);
    const { userId } = caller;
    const before = await readSettings(tx, userId);
    if (before.mail !== mail) {
      await saveSettings(tx, userId, mail);
      const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
      audit(tx, { ...event, type: "notices.updated", metadata: { mail } }, await clock(tx));
    }
    return { mail };
  });
