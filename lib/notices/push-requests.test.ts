import { spawn, type ChildProcess } from "node:child_process";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { member, session } from "#lib/identity/tables.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { requestMessageOf } from "#lib/notices/push-requests.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";
import { noticeDeliveries, noticeSettings, notices } from "#lib/notices/tables.ts";
import { forget } from "#lib/process.ts";
import { sendPushes } from "#lib/push/send-pushes.ts";
import { pushDevices, pushes } from "#lib/push/tables.ts";
import { vapid } from "#lib/push/vapid.ts";
import { read, reject } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { askingBuyer, askingMandate, makeDue, openRequest } from "#test/notices.ts";
import { addTestDevice, decrypt, readVapid, startPushService, type PushService } from "#test/push.ts";
import { createAgent, createPerson } from "#test/tenant.ts";

useDatabase();

let service: PushService;
beforeEach(async () => {
  service = await startPushService();
});
afterEach(async () => {
  await service.stop();
  await database().delete(notices);
  await database().delete(pushDevices);
});

async function plan(): Promise<void> {
  await followEvents();
  await sendNotices();
}
async function tell(): Promise<void> {
  await plan();
  while ((await sendPushes(requestMessageOf)) > 0);
}
const paths = () => service.received.map(({ path }) => path).sort();

describe("a request that waits", () => {
  test("is sent to the devices of those who may approve: only its ids, encrypted and signed", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const device = await addTestDevice(service, buyer.person.credential);
    const viewer = await createPerson(buyer.organizationId, "viewer");
    await addTestDevice(service, viewer.credential);
    await addTestDevice(service, (await askingBuyer()).buyer.person.credential);
    const { checkoutIntentId } = await openRequest(buyer, mandateId);
    await tell();
    await tell();
    expect(paths()).toEqual([device.path]);
    const [message] = service.received;
    expect(decrypt(message!, device)).toEqual({
      type: "request",
      kind: "opened",
      checkoutIntentId,
      organizationId: buyer.organizationId,
      silent: false,
    });
    expect(message?.headers).toMatchObject({ "content-encoding": "aes128gcm", urgency: "high", topic: checkoutIntentId });
    expect(Number(message?.headers["ttl"])).toBeGreaterThan(1_700);
    const { publicKey, claims } = readVapid(message!);
    expect(publicKey).toBe(vapid()?.publicKey);
    expect(claims).toMatchObject({ aud: service.origin, sub: "mailto:sandbox@example.com" });
  });

  test("names payee and amount only on a device whose owner asked for it", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const device = await addTestDevice(service, buyer.person.credential, true);
    await openRequest(buyer, mandateId);
    await tell();
    expect(decrypt(service.received[0]!, device)).toMatchObject({ payee: buyer.resource.domain, amount: "0.50 USDC" });
  });

  test("is not sent after the decision, nor to a device whose session has ended or whose owner has left the organization", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const [left, out] = [await createPerson(buyer.organizationId, "admin"), await createPerson(buyer.organizationId, "admin")];
    const device = await addTestDevice(service, buyer.person.credential);
    for (const { credential } of [left, out]) await addTestDevice(service, credential);
    const { checkoutIntentId } = await openRequest(buyer, mandateId);
    await plan();
    await database().delete(member).where(eq(member.userId, left.userId));
    await database()
      .update(session)
      .set({ expiresAt: sql`statement_timestamp()` })
      .where(eq(session.userId, out.userId));
    while ((await sendPushes(requestMessageOf)) > 0);
    expect(paths()).toEqual([device.path]);
    await openRequest(buyer, await askingMandate(buyer));
    await plan();
    await database().update(pushes).set({ kind: "later" }).where(eq(pushes.checkoutIntentId, checkoutIntentId));
    const decided = await openRequest(buyer, await askingMandate(buyer));
    await plan();
    await reject(decided.checkoutIntentId, buyer.person.credential);
    while ((await sendPushes(requestMessageOf)) > 0);
    expect(service.received).toHaveLength(2);
  });

  test("reaches no device in the quiet hours of its owner, even if it was written before; mail is sent at any hour", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const admin = await createPerson(buyer.organizationId, "admin");
    const awake = await addTestDevice(service, buyer.person.credential);
    await addTestDevice(service, admin.credential);
    const quiet = (userId: string) =>
      database().insert(noticeSettings).values({ userId, mail: true, quietFrom: "00:00", quietTo: "24:00", timezone: "UTC" });
    await quiet(admin.userId);
    await openRequest(buyer, mandateId);
    await tell();
    expect(paths()).toEqual([awake.path]);
    expect(await database().$count(noticeDeliveries)).toBe(2);
    await openRequest(buyer, await askingMandate(buyer));
    await plan();
    await quiet(buyer.person.userId);
    while ((await sendPushes(requestMessageOf)) > 0);
    expect(service.received).toHaveLength(1);
  });

  test("makes a sound three times in ten minutes, and the fourth makes none", async () => {
    const { buyer } = await askingBuyer();
    const device = await addTestDevice(service, buyer.person.credential);
    for (let count = 0; count < 4; count += 1) {
      await openRequest(buyer, await askingMandate(buyer));
      await tell();
    }
    expect(service.received.map((one) => decrypt(one, device)["silent"])).toEqual([false, false, false, true]);
  });
});

describe("a push service", () => {
  test.each([404, 410])("that answers %i no longer knows the device, which is deleted", async (status) => {
    const { buyer, mandateId } = await askingBuyer();
    await addTestDevice(service, buyer.person.credential);
    service.answer(status);
    await openRequest(buyer, mandateId);
    await tell();
    expect(service.received).toHaveLength(1);
    expect(await database().$count(pushDevices)).toBe(0);
  });

  test("that fails is asked again later, six times at most; a refusal ends the attempts", async () => {
    const { buyer, mandateId } = await askingBuyer();
    await addTestDevice(service, buyer.person.credential);
    service.answer(503);
    await openRequest(buyer, mandateId);
    await tell();
    expect(await sendPushes(requestMessageOf)).toBe(0);
    for (let count = 0; count < 8; count += 1) {
      await database()
        .update(pushes)
        .set({ nextAttemptAt: new Date(0) })
        .where(eq(pushes.status, "queued"));
      await sendPushes(requestMessageOf);
    }
    expect(service.received).toHaveLength(6);
    service.answer(403);
    await openRequest(buyer, await askingMandate(buyer));
    await tell();
    expect(service.received).toHaveLength(7);
    expect((await database().select().from(pushes)).map(({ status }) => status)).toEqual(["failed", "failed"]);
  });
});

test("ten devices of one person whose push services never answer do not delay the first message of others", async () => {
  const [slow, quick] = [await askingBuyer(), await askingBuyer()];
  const begun: Socket[] = [];
  const silent = createServer((socket) => void begun.push(socket.on("error", () => {})));
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    for (const socket of begun) socket.destroy();
    await new Promise((done) => silent.close(done));
  });
  const { port } = silent.address() as AddressInfo;
  process.env["OUTBOUND_LOOPBACK"] += `,127.0.0.1:${port}`;
  forget("env");
  await addTestDevice(service, slow.buyer.person.credential);
  const [first] = await database().select().from(pushDevices);
  await database().execute(sql`
    INSERT INTO session (id, user_id, token, expires_at)
    SELECT 'slow' || n, user_id, 'slow' || n, expires_at FROM session, generate_series(1, 9) n WHERE id = ${first!.sessionId}`);
  const more = Array.from({ length: 9 }, (_, at) => ({
    ...first!,
    deviceId: `slow${at}`,
    sessionId: `slow${at + 1}`,
    endpoint: `/${at}`,
  }));
  await database().insert(pushDevices).values(more);
  await database()
    .update(pushDevices)
    .set({
      endpoint: sql`CASE WHEN hashtext(device_id) > 0 THEN 'http://127.0.0.1:' ELSE 'http://localhost:' END || ${port} || '/' || device_id`,
    });
  const device = await addTestDevice(service, quick.buyer.person.credential);
  await openRequest(slow.buyer, slow.mandateId);
  await plan();
  await openRequest(quick.buyer, quick.mandateId);
  await plan();
  const sending = sendPushes(requestMessageOf);
  await expect.poll(paths, { interval: 20 }).toEqual([device.path]);
  expect(begun.length).toBeLessThan(10);
  await sending;
});

test("an agent reads whether and since when a push service accepted a message to a device", async () => {
  const { buyer, mandateId } = await askingBuyer();
  const { credential: as } = await createAgent(buyer.organizationId, ["checkouts:read"]);
  const told = async (id: string) => (await read(id, as)).data.notification;
  await addTestDevice(service, buyer.person.credential);
  const first = await openRequest(buyer, mandateId);
  expect(await told(first.checkoutIntentId)).toMatchObject({
    status: "pending",
    channels: [{ channel: "mail" }, { channel: "push" }],
  });
  await tell();
  const [sent] = await database().select().from(pushes);
  expect(await told(first.checkoutIntentId)).toMatchObject({
    status: "accepted",
    channels: [{ channel: "mail" }, { channel: "push", acceptedAt: sent?.endedAt?.toISOString() }],
    detail: expect.stringContaining("push service"),
  });
  service.answer(400);
  const second = await openRequest(buyer, await askingMandate(buyer));
  await tell();
  expect(await told(second.checkoutIntentId)).toMatchObject({ status: "unreachable" });
  service.answer(410);
  const third = await openRequest(buyer, await askingMandate(buyer));
  await tell();
  expect(await told(third.checkoutIntentId)).toMatchObject({ status: "unreachable", channels: [{ channel: "mail" }] });
});

test("two processes send each message once", async () => {
  const { buyer } = await askingBuyer();
  const admin = await createPerson(buyer.organizationId, "admin");
  const devices = [await addTestDevice(service, buyer.person.credential), await addTestDevice(service, admin.credential)];
  const children = [0, 1].map(() =>
    spawn(process.execPath, [join(import.meta.dirname, "../../test/helpers/notices-process.ts")], { stdio: "inherit" }),
  );
  const kill = (child: ChildProcess) => child.kill("SIGKILL");
  onTestFinished(() => children.forEach(kill));
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push((await openRequest(buyer, await askingMandate(buyer))).checkoutIntentId);
  await expect.poll(() => service.received.length).toBe(12);
  await makeDue("halfTime");
  await expect.poll(() => service.received.length).toBe(24);
  const said = devices.flatMap((device) =>
    service.received
      .filter(({ path }) => path === device.path)
      .map((one) => decrypt(one, device))
      .map(({ checkoutIntentId, kind }) => `${device.path} ${String(checkoutIntentId)} ${String(kind)}`),
  );
  expect(new Set(said).size).toBe(24);
  expect(await database().$count(pushes, eq(pushes.status, "accepted"))).toBe(24);
});
