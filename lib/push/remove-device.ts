import { audit, clock } from "#lib/audit/transact.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import { notFound } from "#lib/problem.ts";
import * as contract from "#lib/push/contract.ts";
import { deleteDeviceOf, devicesOf } from "#lib/push/device-store.ts";
import { presentDevice } from "#lib/push/present-device.ts";

export const removeDevice: Handler<typeof contract.removeDevice> = ({ deviceId }, { caller, idempotency }) =>
  once(contract.removeDevice, idempotency, async (tx) => {
    await lockPerson(tx, caller);
    const { userId, sessionId } = caller;
    const row = (await devicesOf(tx, userId)).find((one) => one.deviceId === deviceId);
    if (!row || !(await deleteDeviceOf(tx, userId, deviceId))) throw notFound("device");
    const event = { actorId: userId, organizationId: null, subjectId: userId, entityType: "device", entityId: deviceId };
    audit(tx, { ...event, type: "device.removed", metadata: {} }, await clock(tx));
    return presentDevice(row, sessionId);
  });
