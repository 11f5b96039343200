import { ALERT } from "#lib/alerts/alert-message.ts";
import { endAlert, lockAlert, nextDueAlert, postponeAlert, selectExecutions, type AlertRow } from "#lib/alerts/alert-store.ts";
import { alertWords } from "#lib/alerts/alert-words.ts";
import { selectDevices, selectReaders } from "#lib/alerts/recipient-store.ts";
import { clock } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { mailRow } from "#lib/mail/queue-mail.ts";
import { insertMails } from "#lib/mail/store.ts";
import { insertPushes } from "#lib/push/store.ts";
import { vapid } from "#lib/push/vapid.ts";
import { log } from "#lib/telemetry/log.ts";
import { daysAfter } from "#lib/time.ts";

const AT_ONCE = 50;
const note =
  "You get this because you may approve payments of this organization, or run the platform. You can switch off these mails on the page Security.";

/** Returns how many alerts were delivered, dropped or postponed, at most AT_ONCE. */
export async function sendAlerts(): Promise<number> {
  for (let ended = 0; ended < AT_ONCE; ended += 1) {
    const alertId = await nextDueAlert();
    if (alertId === null) return ended;
    try {
      const isMine = await database().transaction((tx) => send(tx, alertId));
      // Stop, because another process has locked or already handled this alert.
      if (!isMine) return ended;
    } catch (error) {
      log().error({ alertId, err: error }, "An alert could not be written");
      // If the database is not reachable, this statement throws too, and no failed attempt is counted.
      await postponeAlert(alertId);
    }
  }
  return AT_ONCE;
}

/** Returns false if another process has locked or already handled the alert. */
async function send(tx: Tx, alertId: string): Promise<boolean> {
  const alert = await lockAlert(tx, alertId);
  if (!alert) return false;
  const isTrue = await isStillTrue(tx, alert);
  if (isTrue) await deliver(tx, alert, await clock(tx));
  await endAlert(tx, alertId, isTrue ? "delivered" : "dropped");
  return true;
}

async function isStillTrue(tx: Tx, { facts }: AlertRow): Promise<boolean> {
  if (facts.kind !== "unknown") return true;
  const [execution] = await selectExecutions(tx, [facts.executionId]);
  return execution?.settlementStatus === "unknown";
}

async function deliver(tx: Tx, alert: AlertRow, now: Date): Promise<void> {
  const { alertId, organizationId } = alert;
  const { title, text, next, path, label } = alertWords(alert);
  const readers = (await selectReaders(tx, organizationId)).filter((one) => one.emailVerified || mailDelivery() !== "smtp");
  await insertMails(
    tx,
    readers.flatMap(
      ({ email }) => mailRow({ to: email, subject: title, paragraphs: [text, next], action: { label, path }, note }) ?? [],
    ),
  );
  if (vapid() === null) return;
  const devices = await selectDevices(tx, organizationId, now);
  const push = {
    causeId: alertId,
    kind: ALERT,
    organizationId: organizationId ?? "platform",
    checkoutIntentId: null,
    silent: false,
  };
  const usefulUntil = daysAfter(now, 1);
  await insertPushes(
    tx,
    devices.map((deviceId) => ({ ...push, pushId: newId("push"), deviceId, usefulUntil })),
  );
}
