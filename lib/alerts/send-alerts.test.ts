import { eq, sql } from "drizzle-orm";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { alertMessageOf } from "#lib/alerts/alert-message.ts";
import * as contract from "#lib/alerts/contract.ts";
import { forgetOldAlerts } from "#lib/alerts/alert-store.ts";
import { followUsage } from "#lib/alerts/follow-usage.ts";
import { noteFewStandbys, noteLowBalances } from "#lib/alerts/note-operations.ts";
import { sendAlerts } from "#lib/alerts/send-alerts.ts";
import { setMandateAlerts } from "#lib/alerts/set-mandate-alerts.ts";
import { alerts, refusalCounts } from "#lib/alerts/tables.ts";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { executions } from "#lib/holds/tables.ts";
import { user } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import { mails } from "#lib/mail/tables.ts";
import { noticeSettings } from "#lib/notices/tables.ts";
import { forget, perProcess } from "#lib/process.ts";
import { sendPushes } from "#lib/push/send-pushes.ts";
import { pushes } from "#lib/push/tables.ts";
import { tamper } from "#test/audit-tampering.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { addTestDevice, decrypt, startPushService, type PushService } from "#test/push.ts";
import { createPerson, send } from "#test/tenant.ts";

useDatabase();

let service: PushService;
beforeAll(async () => {
  service = await startPushService();
});
afterAll(() => service.stop());
afterEach(async () => {
  await database().delete(mails);
  await database().delete(alerts);
  await database().delete(pushes);
});

/** Runs followUsage and sendAlerts twice at the same time, as two processes do, and then once more for what is left. */
async function tell(): Promise<void> {
  await Promise.all([followUsage(), followUsage()]);
  await followUsage();
  await Promise.all([sendAlerts(), sendAlerts()]);
  await sendAlerts();
  while ((await sendPushes(alertMessageOf)) > 0);
}

const sent = async () =>
  (await database().select().from(mails))
    .map(({ recipient, subject }) => `${recipient.split("@")[0] ?? ""}: ${subject}`)
    .toSorted();
const textOf = async () => (await database().select().from(mails))[0]?.plain ?? "";

const mandateOf = ({ person }: Buyer, limits: Record<string, unknown>) =>
  activeMandate(person.credential, { name: "Research", policy: { assets, limits } });
const day = (amount: string) => ({ perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount }] });

describe("a budget", () => {
  test("is reported once at each threshold, to everyone who may approve, by mail and on their devices", async () => {
    const buyer = await createBuyer();
    const owner = buyer.person;
    const approver = await createPerson(buyer.organizationId, "approver");
    await createPerson(buyer.organizationId, "viewer");
    const device = await addTestDevice(service, owner.credential);
    const shown = await addTestDevice(service, approver.credential, true);
    const mandateId = await mandateOf(buyer, day("1.2"));
    await send(contract.setMandateAlerts, setMandateAlerts, {
      as: owner.credential,
      id: mandateId,
      body: { thresholds: [40, 80] },
    });
    await authorize(buyer, mandateId);
    await tell();
    await tell();
    expect(await sent()).toEqual([owner, approver].map(({ userId }) => `${userId}: 40% of a budget is used`).toSorted());
    expect(await textOf()).toContain("“\u2068Research\u2069” use 0.50 USDC of 1.20 USDC today");
    expect(await textOf()).toContain(`http://localhost:3000/mandates/${mandateId}`);
    const messages = [device, shown].map((one) =>
      service.received.filter(({ path }) => path === one.path).map((at) => decrypt(at, one)),
    );
    const first = { type: "alert", title: "40% of a budget is used", path: `/mandates/${mandateId}` };
    expect(messages[0]).toEqual([first]);
    expect(messages[1]).toEqual([{ ...first, body: expect.stringContaining("0.50 USDC of 1.20 USDC") }]);
    await authorize(buyer, mandateId);
    await tell();
    expect(await sent()).toHaveLength(4);
    expect(await sent()).toContain(`${owner.userId}: 80% of a budget is used`);
  });

  test("that is used up at once is reported once, and people who switched off mail get no mail", async () => {
    const buyer = await createBuyer();
    const admin = await createPerson(buyer.organizationId, "admin");
    await database().insert(noticeSettings).values({ userId: admin.userId, mail: false });
    await authorize(buyer, await mandateOf(buyer, day("0.5")));
    await tell();
    expect(await sent()).toEqual([`${buyer.person.userId}: A budget is used up`]);
  });
});

test("a refusal that repeats is reported once an hour, and each reason is reported separately", async () => {
  const buyer = await createBuyer();
  const small = await mandateOf(buyer, { ...day("5"), perPayment: "0.1" });
  const used = await mandateOf(buyer, day("0.4"));
  for (let count = 0; count < 4; count += 1) await authorize(buyer, small);
  await tell();
  expect(await sent()).toEqual([]);
  for (let count = 0; count < 6; count += 1) {
    await authorize(buyer, small);
    await tell();
  }
  expect(await sent()).toEqual([`${buyer.person.userId}: Many payments are refused for the same reason`]);
  expect(await textOf()).toContain("“\u2068Research\u2069” were refused for the same reason: Payment limit exceeded.");
  for (let count = 0; count < 5; count += 1) await authorize(buyer, used);
  await tell();
  expect(await sent()).toHaveLength(2);
  await database()
    .update(refusalCounts)
    .set({ hour: sql`hour - interval '2 days'` });
  expect(await forgetOldAlerts()).toBe(2);
});

test("refusals count in the hour in which the payments were refused, also if they are read later", async () => {
  const buyer = await createBuyer();
  const mandateId = await mandateOf(buyer, { ...day("5"), perPayment: "0.1" });
  const refuse = async (times: number, hoursAgo: number) => {
    for (let count = 0; count < times; count += 1) {
      const { authorizationId } = await authorize(buyer, mandateId);
      const ago = `created_at - interval '${hoursAgo} hours'`;
      await tamper(`UPDATE authorizations SET created_at = ${ago} WHERE authorization_id = '${authorizationId}'`);
    }
  };
  await refuse(4, 1);
  await refuse(1, 0);
  await refuse(5, 3);
  await tell();
  expect(await sent()).toEqual([]);
  await refuse(1, 1);
  await tell();
  expect(await sent()).toEqual([`${buyer.person.userId}: Many payments are refused for the same reason`]);
  expect(await textOf()).toContain("Within an hour 5 or more payments");
});

test("an unknown outcome is reported after ten minutes, unless it has become known", async () => {
  const buyer = await createBuyer();
  const mandateId = await mandateOf(buyer, day("5"));
  const unknown = async () => {
    const { authorizationId } = await authorize(buyer, mandateId);
    const executionId = newId("execution");
    const { organizationId } = buyer;
    const settlement = { settlementMode: "offchainAuthorized", settlementStatus: "unknown", nextCheckAt: new Date() };
    await database()
      .insert(executions)
      .values({
        executionId,
        authorizationId,
        organizationId,
        environment: "sandbox",
        mandateId,
        subjectId: "sa_1",
        ...settlement,
      });
    const event = { type: "payment.unknown", actorId: "service", organizationId, entityType: "execution", entityId: executionId };
    await transact(async (tx) => audit(tx, { ...event, metadata: {} }, await clock(tx)));
    return executionId;
  };
  const stays = await unknown();
  const settles = await unknown();
  await tell();
  expect(await sent()).toEqual([]);
  await database().update(executions).set({ settlementStatus: "settled" }).where(eq(executions.executionId, settles));
  await database().update(alerts).set({ dueAt: new Date() }).where(eq(alerts.window, "unknown"));
  await tell();
  expect(await sent()).toEqual([`${buyer.person.userId}: The outcome of a payment is still unknown`]);
  const rows = await database().select().from(alerts).where(eq(alerts.window, "unknown"));
  expect(rows.map(({ subjectId, status }) => [subjectId, status]).toSorted()).toEqual(
    [
      [stays, "delivered"],
      [settles, "dropped"],
    ].toSorted(),
  );
});

test("an account that runs out of gas, and too few standbys, are reported once a day to the platform's administrators", async () => {
  const buyer = await createBuyer();
  const admin = await createPerson(buyer.organizationId, "viewer");
  await database()
    .update(user)
    .set({ platformRoles: ["user", "admin"] })
    .where(eq(user.id, admin.userId));
  const before = process.env["CHAINS"];
  const address = `0x${"1a".repeat(20)}`;
  const policySigner = privateKeyToAddress((env().POLICY_SIGNER_PRIVATE_KEY ?? "") as `0x${string}`);
  const contracts = { mandateRegistry: address, paymentModule: address, smartPaymentAccount: address, policySigner };
  const [chain] = env().CHAINS;
  process.env["CHAINS"] = JSON.stringify([{ ...chain, contracts }]);
  forget("env");
  onTestFinished(() => {
    if (before === undefined) delete process.env["CHAINS"];
    else process.env["CHAINS"] = before;
    forget("env", "onchain/senders");
  });
  await noteLowBalances();
  expect(await database().$count(alerts)).toBe(0);
  perProcess("onchain/senders", () => new Map<string, bigint>()).set(`${chain?.chain ?? ""} relayer`, 1n);
  await Promise.all([noteLowBalances(), noteLowBalances()]);
  await noteLowBalances();
  await Promise.all([noteFewStandbys("ANY 1 (a, b)", 1), noteFewStandbys("ANY 1 (a, b)", 1)]);
  await tell();
  expect((await sent()).toSorted()).toEqual([
    `${admin.userId}: An account for gas is nearly empty`,
    `${admin.userId}: Fewer than two standbys of the database are in sync`,
  ]);
});

/** Two buyers with a budget that is used up. `mandateId` is the mandate of the first one, whose alert comes first. */
async function twoUsedUp() {
  const [first, second] = [await createBuyer(), await createBuyer()];
  const mandateId = await mandateOf(first, day("0.5"));
  await authorize(first, mandateId);
  await followUsage();
  await authorize(second, await mandateOf(second, day("0.5")));
  await followUsage();
  return { first, second, mandateId };
}

test("an alert that cannot be written delays no other alert, and is given up after five attempts", async () => {
  const { first, second, mandateId } = await twoUsedUp();
  const refuse = `CREATE FUNCTION refuse_mail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.recipient LIKE '${first.person.userId}%' THEN RAISE 'refused'; END IF; RETURN NEW; END $$`;
  await database().execute(sql.raw(refuse));
  await database().execute(sql`CREATE TRIGGER refuse_mail BEFORE INSERT ON mails FOR EACH ROW EXECUTE FUNCTION refuse_mail()`);
  onTestFinished(() => void database().execute(sql`DROP FUNCTION refuse_mail CASCADE`));
  await sendAlerts();
  expect(await sent()).toEqual([`${second.person.userId}: A budget is used up`]);
  for (let count = 1; count < 5; count += 1) {
    await database().update(alerts).set({ dueAt: new Date() }).where(eq(alerts.status, "waiting"));
    await sendAlerts();
  }
  const rows = await database().select().from(alerts).where(eq(alerts.subjectId, mandateId));
  expect(rows.find(({ threshold }) => threshold === 100)).toMatchObject({ status: "failed", attempts: 5 });
});

test("an alert of a kind that this release does not know delays no other alert", async () => {
  const { second, mandateId } = await twoUsedUp();
  await database()
    .update(alerts)
    .set({ facts: sql`'{"kind":"of a later release"}'` })
    .where(eq(alerts.subjectId, mandateId));
  await sendAlerts();
  expect(await sent()).toEqual([`${second.person.userId}: A budget is used up`]);
  const rows = await database().select().from(alerts).where(eq(alerts.subjectId, mandateId));
  expect(rows.find(({ threshold }) => threshold === 100)).toMatchObject({ status: "waiting", attempts: 1 });
});

test("an alert is not given up while the database is away, however often it is tried", async () => {
  const { first, second } = await twoUsedUp();
  await database().execute(sql`CREATE FUNCTION no_memory() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'out of memory' USING ERRCODE = '53200'; END $$`);
  await database().execute(sql`CREATE TRIGGER no_memory BEFORE INSERT ON mails FOR EACH ROW EXECUTE FUNCTION no_memory()`);
  for (let count = 0; count < 6; count += 1) {
    await database().update(alerts).set({ dueAt: new Date() }).where(eq(alerts.status, "waiting"));
    await expect(sendAlerts()).rejects.toThrow();
  }
  await database().execute(sql`DROP FUNCTION no_memory CASCADE`);
  await sendAlerts();
  const told = [first, second].map(({ person }) => `${person.userId}: A budget is used up`);
  expect((await sent()).toSorted()).toEqual(told.toSorted());
});
