import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/push/contract.ts";
import { removeDevice } from "#lib/push/remove-device.ts";
import { pushDevices } from "#lib/push/tables.ts";
import { useDatabase } from "#test/database.ts";
import { addTestDevice, startPushService, type PushService } from "#test/push.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let service: PushService;
beforeAll(async () => {
  service = await startPushService();
});
afterAll(() => service.stop());

const remove = (as: Credential, id: string) => send(contract.removeDevice, removeDevice, { as, id });

describe("removeDevice", () => {
  test("removes the person's own device once; 404 hides those of others", async () => {
    const organizationId = await createOrganization();
    const [ada, bob] = [await createPerson(organizationId), await createPerson(organizationId)];
    const { deviceId } = await addTestDevice(service, ada.credential);
    expect((await remove(bob.credential, deviceId)).status).toBe(404);
    expect(await database().$count(pushDevices)).toBe(1);
    expect((await remove(ada.credential, deviceId)).data).toMatchObject({ deviceId, current: true });
    expect(await database().$count(pushDevices)).toBe(0);
    expect((await remove(ada.credential, deviceId)).status).toBe(404);
  });
});
