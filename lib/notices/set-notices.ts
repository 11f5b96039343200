import { isDeepStrictEqual } from "node:util";
import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import * as contract from "#lib/notices/contract.ts";
import { readSettings, saveNoticeSettings } from "#lib/notices/settings-store.ts";

export const setNotices: Handler<typeof contract.setNotices> = ({ body }, { caller, idempotency }) =>
  once(contract.setNotices, idempotency, async (tx) => {
    await lockPerson(tx, caller);
    const { userId } = caller;
    const before = await readSettings(tx, userId);
    const { mail, quietHours = before.quietHours } = body;
    const settings = { mail, quietHours };
    if (!isDeepStrictEqual(settings, before)) {
      await saveNoticeSettings(tx, userId, settings);
      const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "user", entityId: userId };
      const metadata = { mail, ...(quietHours !== null && { quietHours }) };
      audit(tx, { ...event, type: "notices.updated", metadata }, await clock(tx));
    }
    return settings;
  });
