import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { forget } from "#lib/process.ts";
import { addDevice } from "#lib/push/add-device.ts";
import * as contract from "#lib/push/contract.ts";
import { pushDevices } from "#lib/push/tables.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { createDevice, startPushService, subscriptionOf, type PushService } from "#test/push.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let service: PushService;
beforeAll(async () => {
  service = await startPushService();
});
afterAll(() => service.stop());

const add = (as: Credential, body: unknown, key?: string) =>
  send(contract.addDevice, addDevice, { as, body, ...(key !== undefined && { key }) });
const person = async () => createPerson(await createOrganization());
const rows = () => database().select().from(pushDevices);

describe("addDevice", () => {
  test("stores the browser of this session, replaces an earlier one, and a repeat gets the same reply", async () => {
    const { credential } = await person();
    const first = subscriptionOf(createDevice(service));
    const added = await add(credential, first, "once");
    expect(added.data).toMatchObject({ name: "Unknown device", details: false, current: true });
    expect((await add(credential, first, "once")).data).toEqual(added.data);
    const second = subscriptionOf(createDevice(service));
    expect((await add(credential, { ...second, details: true })).data).toMatchObject({ details: true });
    const third = subscriptionOf(createDevice(service));
    expect((await add(credential, third)).data).toMatchObject({ details: true });
    expect((await rows()).map(({ endpoint }) => endpoint)).toEqual([third.endpoint]);
    const events = await eventsAbout(added.data.deviceId);
    expect(events.map(({ type, metadata }) => [type, metadata])).toEqual([["device.added", { details: false }]]);
  });

  test("a browser in which another person signs in belongs to that person, and nobody can take a device with only its address", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()];
    const browser = subscriptionOf(createDevice(service));
    await add(ada.credential, browser);
    const guessed = { ...subscriptionOf(createDevice(service)), endpoint: browser.endpoint };
    expect((await add(eve.credential, guessed)).status).toBe(409);
    expect((await add(bob.credential, browser)).status).toBe(200);
    const owners = await database()
      .select({ userId: session.userId })
      .from(pushDevices)
      .innerJoin(session, eq(session.id, pushDevices.sessionId))
      .where(eq(pushDevices.endpoint, browser.endpoint));
    expect(owners).toEqual([{ userId: bob.userId }]);
  });

  test("ends with its session", async () => {
    const { userId, credential } = await person();
    const browser = subscriptionOf(createDevice(service));
    await add(credential, browser);
    await database().delete(session).where(eq(session.userId, userId));
    expect((await rows()).map(({ endpoint }) => endpoint)).not.toContain(browser.endpoint);
  });

  test.each([
    ["a private address", "https://10.0.0.1/x"],
    ["a name of this network", "https://printer.local/x"],
    ["plain http", "http://push.example.com/x"],
    ["another port", "https://push.example.com:22/x"],
  ])("400 for %s", async (_, endpoint) => {
    const { credential } = await person();
    const { status, problem } = await add(credential, { ...subscriptionOf(createDevice(service)), endpoint });
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/endpoint"]);
  });

  test("400 for keys that no message can be encrypted for", async () => {
    const { credential } = await person();
    const { endpoint, keys } = subscriptionOf(createDevice(service));
    const offCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]).toString("base64url");
    for (const [wrong, pointer] of [
      [{ ...keys, p256dh: offCurve }, "/keys/p256dh"],
      [{ ...keys, p256dh: keys.p256dh.slice(1) }, "/keys/p256dh"],
      [{ ...keys, auth: "short" }, "/keys/auth"],
    ] as const) {
      const { status, problem } = await add(credential, { endpoint, keys: wrong });
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
    }
  });

  test("403 for an API key; 409 if the service has no key for Web Push, and for the eleventh device", async () => {
    const organizationId = await createOrganization();
    const agent = await createAgent(organizationId, ["payments:read"]);
    expect((await add(agent.credential, subscriptionOf(createDevice(service)))).status).toBe(403);
    const { userId, credential } = await createPerson(organizationId);
    const [own] = await database().select().from(session).where(eq(session.userId, userId));
    for (let count = 0; count < 10; count += 1) {
      const id = `ses_${userId}_${count}`;
      await database()
        .insert(session)
        .values({ ...own!, id, token: id });
      const { endpoint, keys } = subscriptionOf(createDevice(service));
      await database()
        .insert(pushDevices)
        .values({ deviceId: id, sessionId: id, endpoint, ...keys, details: false });
    }
    const eleventh = await add(credential, subscriptionOf(createDevice(service)));
    expect([eleventh.status, eleventh.problem.detail]).toEqual([409, expect.stringContaining("10 devices")]);
    const key = process.env["VAPID_PRIVATE_KEY"];
    delete process.env["VAPID_PRIVATE_KEY"];
    forget("env", "push/vapid");
    const refused = await add((await person()).credential, subscriptionOf(createDevice(service)));
    expect([refused.status, refused.problem.detail]).toEqual([409, expect.stringContaining("has no key")]);
    process.env["VAPID_PRIVATE_KEY"] = key;
    forget("env");
  });
});
