import { ALERT } from "#lib/alerts/alert-message.ts";
import { alertBox, endAlert, selectExecutions, type AlertRow } from "#lib/alerts/alert-store.ts";
import { alertWords } from "#lib/alerts/alert-words.ts";
import { selectDevices, selectAlertReaders } from "#lib/alerts/recipient-store.ts";
import { clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { cardOfPayment } from "#lib/holds/card-store.ts";
import { recordedOf } from "#lib/holds/record-store.ts";
import { newId } from "#lib/ids.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { mailRow } from "#lib/mail/queue-mail.ts";
import { insertMails } from "#lib/mail/store.ts";
import { handleDue } from "#lib/outbox/handle-due.ts";
import { insertPushes } from "#lib/push/store.ts";
import { vapid } from "#lib/push/vapid.ts";
import { daysAfter } from "#lib/time.ts";

const note =
  "You get this because you may approve payments of this organization, or run the platform. You can switch off these mails on the page Security.";

/** Returns how many alerts were delivered or dropped. */
export const sendAlerts = (): Promise<number> =>
  handleDue({ outbox: alertBox, work: sendSome, failed: "An alert could not be written" });

async function sendSome(tx: Tx, due: readonly AlertRow[]): Promise<void> {
  const now = await clock(tx);
  for (const alert of due) {
    const isTrue = await isStillTrue(tx, alert);
    if (isTrue) await deliver(tx, alert, now);
    await endAlert(tx, alert.alertId, isTrue ? "delivered" : "dropped");
  }
}

async function isStillTrue(tx: Tx, { facts }: AlertRow): Promise<boolean> {
  if (facts.kind === "record") return (await recordedOf(tx, facts.authorizationId))?.asks === facts.asks;
  if (facts.kind === "card" && facts.asks !== "clearance")
    return (await cardOfPayment(tx, facts.authorizationId))?.asks === facts.asks;
  if (facts.kind !== "unknown") return true;
  const [execution] = await selectExecutions(tx, [facts.executionId]);
  return execution?.settlementStatus === "unknown";
}

async function deliver(tx: Tx, alert: AlertRow, now: Date): Promise<void> {
  const { alertId, organizationId } = alert;
  const { title, text, next, path, label } = alertWords(alert);
  const readers = (await selectAlertReaders(tx, organizationId)).filter((one) => one.emailVerified || mailDelivery() !== "smtp");
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
