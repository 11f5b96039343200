import { alertWords } from "#lib/alerts/alert-words.ts";
import { findAlertFor } from "#lib/alerts/recipient-store.ts";
import type { MessageOf } from "#lib/push/send-pushes.ts";

export const ALERT = "alert";

/**
 * Writes the push message for an alert. It has names and amounts only if the owner of the device asked for details. Null if the
 * alert must no longer be sent to the device.
 */
export const alertMessageOf: MessageOf = async ({ deviceId, causeId }) => {
  const alert = await findAlertFor(deviceId, causeId);
  if (!alert) return null;
  const { title, text, path } = alertWords(alert);
  return { type: ALERT, title, path, ...(alert.details && { body: text }) };
};
