import { alertWords } from "#lib/alerts/alert-words.ts";
import { findAlertFor } from "#lib/alerts/recipient-store.ts";
import type { MessageOf } from "#lib/push/send-pushes.ts";

export const ALERT = "alert";

/** Null if the alert must no longer be sent to the device; names and amounts only if the device's owner asked for details. */
export const alertMessageOf: MessageOf = async ({ deviceId, causeId }) => {
  const alert = await findAlertFor(deviceId, causeId);
  if (!alert) return null;
  const { title, text, path } = alertWords(alert);
  return { type: ALERT, title, path, ...(alert.details && { body: text }) };
};
