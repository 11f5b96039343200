import { deviceOf } from "#lib/push/device.ts";
import type { Device } from "#lib/push/contract.ts";
import type { DeviceRow } from "#lib/push/device-store.ts";
import { toWire } from "#lib/time.ts";

export const presentDevice = (row: DeviceRow, sessionId: string): Device => ({
  deviceId: row.deviceId,
  name: deviceOf(row.userAgent),
  details: row.details,
  current: row.sessionId === sessionId,
  createdAt: toWire(row.createdAt),
});
