import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as contract from "#lib/notices/contract.ts";
import { getNotices } from "#lib/notices/get-notices.ts";
import { vapid } from "#lib/push/vapid.ts";
import { useDatabase } from "#test/database.ts";
import { addTestDevice, startPushService, type PushService } from "#test/push.ts";
import { createAgent, createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

let service: PushService;
beforeAll(async () => {
  service = await startPushService();
});
afterAll(() => service.stop());

describe("getNotices", () => {
  test("shows the person their settings, their own devices, and the key that a browser needs", async () => {
    const organizationId = await createOrganization();
    const [ada, bob] = [await createPerson(organizationId), await createPerson(organizationId)];
    const { deviceId } = await addTestDevice(service, ada.credential, true);
    await addTestDevice(service, bob.credential);
    const { data } = await send(contract.getNotices, getNotices, { as: ada.credential });
    expect(data).toMatchObject({ mail: true, quietHours: null, applicationServerKey: vapid()?.publicKey });
    expect(data.devices).toEqual([expect.objectContaining({ deviceId, details: true, current: true })]);
    // The answer contains neither the push endpoint nor the keys of a device.
    expect(Object.keys(data.devices[0] ?? {}).toSorted()).toEqual(["createdAt", "current", "details", "deviceId", "name"]);
  });

  test("403 for an API key", async () => {
    const agent = await createAgent(await createOrganization(), ["payments:read"]);
    expect((await send(contract.getNotices, getNotices, { as: agent.credential })).status).toBe(403);
  });
});
