import type { z } from "zod";
import type { Database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import type * as contract from "#lib/notices/contract.ts";
import { readSettings } from "#lib/notices/settings-store.ts";
import { devicesOf } from "#lib/push/device-store.ts";
import { presentDevice } from "#lib/push/present-device.ts";
import { vapid } from "#lib/push/vapid.ts";

export type Notices = z.output<(typeof contract.getNotices)["response"]>;

export async function readNotices(db: Database, { userId, sessionId }: SessionCaller): Promise<Notices> {
  const [settings, devices] = await Promise.all([readSettings(db, userId), devicesOf(db, userId)]);
  return {
    ...settings,
    applicationServerKey: vapid()?.publicKey ?? null,
    devices: devices.map((row) => presentDevice(row, sessionId)),
  };
}
