import { createECDH } from "node:crypto";
import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { newId } from "#lib/ids.ts";
import { outboundRules } from "#lib/outbound/guarded-fetch.ts";
import { outboundTarget } from "#lib/outbound/outbound-address.ts";
import { invalidField, Problem } from "#lib/problem.ts";
import * as contract from "#lib/push/contract.ts";
import { devicesOf, saveDevice } from "#lib/push/device-store.ts";
import { presentDevice } from "#lib/push/present-device.ts";
import { vapid } from "#lib/push/vapid.ts";

const DEVICES_MAX = 10;

/** A message can be encrypted only for a key that is a point on the curve P-256. */
function isOnCurve(p256dh: string): boolean {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  try {
    pair.computeSecret(p256dh, "base64url");
    return true;
  } catch {
    return false;
  }
}

export const addDevice: Handler<typeof contract.addDevice> = async (
  { body: { endpoint, keys, details } },
  { caller, idempotency },
) => {
  if (vapid() === null)
    throw new Problem("conflict", { detail: "This service sends no messages to devices: it has no key for it." });
  const target = outboundTarget(endpoint, outboundRules());
  if (!target.ok) throw invalidField("/endpoint", target.detail);
  if (!isOnCurve(keys.p256dh)) throw invalidField("/keys/p256dh", "This is not a public key of P-256.");
  return once(contract.addDevice, idempotency, async (tx) => {
    await lockPerson(tx, caller);
    const { userId, sessionId } = caller;
    const before = (await devicesOf(tx, userId)).find((one) => one.sessionId === sessionId);
    const shown = details ?? before?.details ?? false;
    const device = { deviceId: newId("device"), sessionId, endpoint: target.url.href, ...keys, details: shown };
    if (!(await saveDevice(tx, device)))
      throw new Problem("conflict", { detail: "This browser's keys have changed. Switch its messages off and on again." });
    const devices = await devicesOf(tx, userId);
    if (devices.length > DEVICES_MAX)
      throw new Problem("conflict", { detail: `You have ${DEVICES_MAX} devices, the most there can be. Remove one first.` });
    const row = devices.find((one) => one.sessionId === sessionId);
    if (!row) throw new Problem("session_expired", { detail: "This session has ended. Sign in again." });
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "device", entityId: row.deviceId };
    audit(tx, { ...event, type: "device.added", metadata: { details: shown } }, await clock(tx));
    return presentDevice(row, sessionId);
  });
};
