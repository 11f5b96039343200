import * as contract from "#lib/alerts/contract.ts";
import { saveThresholds } from "#lib/alerts/threshold-store.ts";
import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockOwnMandate } from "#lib/mandates/store.ts";
import { notFound } from "#lib/problem.ts";

export const setMandateAlerts: Handler<typeof contract.setMandateAlerts> = ({ id, body }, { caller, idempotency }) =>
  once(contract.setMandateAlerts, idempotency, async (tx) => {
    const row = await lockOwnMandate(tx, caller, id);
    if (!row) throw notFound("mandate");
    const { mandateId, organizationId } = row;
    const thresholds = body.thresholds.toSorted((a, b) => a - b);
    await saveThresholds(tx, mandateId, thresholds);
    const event = {
      actorId: caller.userId,
      organizationId,
      subjectId: caller.userId,
      entityType: "mandate",
      entityId: mandateId,
    };
    audit(tx, { ...event, type: "mandate.alertsUpdated", metadata: { thresholds } }, await clock(tx));
    return { mandateId, thresholds };
  });
