import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { member, user } from "#lib/identity/tables.ts";
import { sendMails } from "#lib/mail/send-mails.ts";
import { mails } from "#lib/mail/tables.ts";
import { forgetOldNotices } from "#lib/notices/outbox-store.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { sendNotices, stillWanted } from "#lib/notices/send-notices.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";
import { read, reject } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { startSmtp, type Mailbox } from "#test/mail.ts";
import { askingBuyer, askingMandate, delivered, makeDue, noticesOf, openRequest } from "#test/notices.ts";
import { createAgent, createPerson } from "#test/tenant.ts";

useDatabase();

let smtp: Mailbox;
beforeEach(async () => {
  smtp = await startSmtp();
});
afterEach(async () => {
  await smtp.stop();
  await database().delete(notices);
  await database().delete(mails);
});

async function tell(): Promise<void> {
  await followEvents();
  await sendNotices();
  while ((await sendMails(stillWanted)) > 0);
}

const header = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1]?.trim() ?? "";
const to = () => smtp.received.map((text) => header(text, "To")).sort();
const addressOf = ({ userId }: { readonly userId: string }) => `${userId}@example.com`;

describe("a request that waits", () => {
  test("is mailed to everyone who may approve it, and to nobody else", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const { organizationId } = buyer;
    const [admin, approver, banned] = [
      await createPerson(organizationId, "admin"),
      await createPerson(organizationId, "approver"),
      await createPerson(organizationId, "admin"),
    ];
    for (const role of ["developer", "finance", "viewer"] as const) await createPerson(organizationId, role);
    const unconfirmed = await createPerson(organizationId, "admin");
    await database().update(user).set({ banned: true }).where(eq(user.id, banned.userId));
    await database().update(user).set({ emailVerified: false }).where(eq(user.id, unconfirmed.userId));
    await openRequest(buyer, mandateId);
    await tell();
    await tell();
    expect(to()).toEqual([buyer.person, admin, approver].map(addressOf).sort());
  });

  test("is described by the records of this service: payee, amount, agent, expiry, and one link that decides nothing", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const { checkoutIntentId } = await openRequest(buyer, mandateId);
    await followEvents();
    await sendNotices();
    const [mail] = await delivered();
    expect(mail?.subject).toBe("0.50 USDC waits for your approval");
    const [, payee = ""] = /to “([^”]*)”/.exec(mail?.plain ?? "") ?? [];
    expect(payee.replaceAll(/[\u2060\u2068\u2069]/g, "")).toBe(buyer.resource.domain);
    expect(mail?.plain).toContain("“\u2068Agent\u2069” asks to pay 0.50 USDC");
    expect(mail?.plain).toMatch(/expires on \d+ \w+ \d{4}, \d\d:\d\d UTC/);
    expect(mail?.plain.match(/https?:\/\/\S+/g)).toEqual(["http://localhost:3000/approvals"]);
    expect(mail?.plain).not.toContain(checkoutIntentId);
  });

  test("is not mailed after the decision, nor to a person who lost the right to approve while the mail waited", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const admin = await createPerson(buyer.organizationId, "admin");
    await openRequest(buyer, mandateId);
    const decided = await openRequest(buyer, await askingMandate(buyer));
    await followEvents();
    await sendNotices();
    await database().update(member).set({ role: "viewer" }).where(eq(member.userId, admin.userId));
    await reject(decided.checkoutIntentId, buyer.person.credential);
    while ((await sendMails(stillWanted)) > 0);
    expect(to()).toEqual([addressOf(buyer.person)]);
    expect((await delivered()).map(({ status }) => status).sort()).toEqual(["failed", "failed", "failed", "sent"]);
  });

  test("causes one reminder at half of its time and one before its end, and none after the decision", async () => {
    const { buyer, mandateId } = await askingBuyer();
    const waiting = await openRequest(buyer, mandateId);
    const decided = await openRequest(buyer, await askingMandate(buyer));
    await tell();
    for (const kind of ["halfTime", "lastMinutes"] as const) {
      await makeDue(kind);
      await database()
        .update(noticeDeliveries)
        .set({ createdAt: sql`statement_timestamp() - interval '11 minutes'` });
      await Promise.all([tell(), tell()]);
      await tell();
      if (kind === "halfTime") await reject(decided.checkoutIntentId, buyer.person.credential);
    }
    const kindsOf = async (id: string) =>
      (await delivered())
        .filter(({ checkoutIntentId }) => checkoutIntentId === id)
        .map(({ kind }) => kind)
        .sort();
    expect(await kindsOf(waiting.checkoutIntentId)).toEqual(["halfTime", "lastMinutes", "opened"]);
    expect(await kindsOf(decided.checkoutIntentId)).toEqual(["halfTime", "opened"]);
    expect(smtp.received).toHaveLength(5);
    expect((await noticesOf(decided.checkoutIntentId)).map(({ status }) => status)).toContain("dropped");
  });

  test("gets one mail, not three, if the workers did not run until the last minutes of the request", async () => {
    const { buyer, mandateId } = await askingBuyer();
    await openRequest(buyer, mandateId);
    await followEvents();
    await database()
      .update(notices)
      .set({ dueAt: sql`due_at - interval '26 minutes'` });
    await tell();
    expect(smtp.received.map((text) => header(text, "Subject"))).toEqual(["Last reminder: 0.50 USDC waits for your approval"]);
  });
});

test("an agent that asks again and again causes three mails and then one digest, which is sent while one of its requests waits", async () => {
  const { buyer } = await askingBuyer();
  const requests: string[] = [];
  for (let count = 0; count < 9; count += 1) {
    requests.push((await openRequest(buyer, await askingMandate(buyer))).checkoutIntentId);
    await followEvents();
    await sendNotices();
  }
  await Promise.all([tell(), tell()]);
  const subjects = smtp.received.map((text) => header(text, "Subject")).sort();
  expect(subjects).toEqual([
    ...Array<string>(3).fill("0.50 USDC waits for your approval"),
    "More payments wait for your approval",
  ]);
  expect((await delivered()).map(({ checkoutIntentId }) => checkoutIntentId).sort()).toEqual(requests.sort());
  // The next digest is sent after five minutes. It is not sent if its requests are decided before.
  const late = await openRequest(buyer, await askingMandate(buyer));
  await tell();
  expect(smtp.received).toHaveLength(4);
  await reject(late.checkoutIntentId, buyer.person.credential);
  await database()
    .update(mails)
    .set({ nextAttemptAt: new Date(0) })
    .where(eq(mails.status, "queued"));
  await tell();
  expect(smtp.received).toHaveLength(4);
});

test("a notice that cannot be written does not delay others", async () => {
  const { buyer, mandateId } = await askingBuyer();
  const broken = await openRequest(buyer, mandateId);
  await openRequest(buyer, await askingMandate(buyer));
  await database().execute(sql`ALTER TABLE checkout_intents DISABLE TRIGGER USER`);
  await database()
    .update(checkoutIntents)
    .set({ tokenDecimals: 2_000_000_000 })
    .where(eq(checkoutIntents.checkoutIntentId, broken.checkoutIntentId));
  await database().execute(sql`ALTER TABLE checkout_intents ENABLE TRIGGER USER`);
  await tell();
  expect(smtp.received).toHaveLength(1);
  expect((await noticesOf(broken.checkoutIntentId))[0]).toMatchObject({ kind: "opened", status: "failed" });
});

test("a request whose notices the database refuses does not delay others, and its agent reads that nobody was told", async () => {
  const { buyer, mandateId } = await askingBuyer();
  const { credential } = await createAgent(buyer.organizationId, ["checkouts:read"]);
  const { checkoutIntentId } = await openRequest(buyer, mandateId);
  await openRequest(buyer, await askingMandate(buyer));
  await followEvents();
  const [opened] = await noticesOf(checkoutIntentId);
  const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.audit_event_id = '${opened?.auditEventId}' THEN RAISE 'refused'; END IF; RETURN NEW; END $$`;
  await database().execute(sql.raw(refuse));
  await database().execute(sql`CREATE TRIGGER refuse BEFORE INSERT ON notice_deliveries FOR EACH ROW EXECUTE FUNCTION refuse()`);
  onTestFinished(() => void database().execute(sql`DROP FUNCTION refuse CASCADE`));
  await tell();
  expect(smtp.received).toHaveLength(1);
  const told = async () => (await read(checkoutIntentId, credential)).data.notification?.status;
  const setDue = (dueAt: Date) =>
    database()
      .update(notices)
      .set({ dueAt })
      .where(sql`kind = 'opened' AND checkout_intent_id = ${checkoutIntentId}`);
  let tried = opened?.dueAt;
  for (let failures = 1; failures < 5; failures += 1) {
    const [notice] = await noticesOf(checkoutIntentId);
    expect(notice).toMatchObject({ status: "waiting", attempts: failures });
    expect(notice?.dueAt.getTime()).toBeGreaterThan(tried!.getTime());
    expect(await told()).toBe("pending");
    await setDue(new Date(Date.now() + 3_600_000));
    expect(await sendNotices()).toBe(0);
    tried = new Date();
    await setDue(tried);
    await sendNotices();
  }
  expect((await noticesOf(checkoutIntentId)).map(({ kind, status }) => `${kind} ${status}`)).toContain("opened failed");
  expect(await told()).toBe("unreachable");
});

test("two processes that are killed again and again create each delivery exactly once", async () => {
  const { buyer } = await askingBuyer();
  await createPerson(buyer.organizationId, "approver");
  const children = new Set<ChildProcess>();
  const start = () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../test/helpers/notices-process.ts")], {
      stdio: "inherit",
    });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  onTestFinished(() => children.forEach((child) => child.kill("SIGKILL")));
  let pair = [start(), start()];
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 2; count += 1) ids.push((await openRequest(buyer, await askingMandate(buyer))).checkoutIntentId);
    await expect.poll(async () => (await delivered()).length).toBeGreaterThan(round * 4);
    if (round > 0) await makeDue("halfTime");
    await pause(Math.random() * 30);
    pair[round % 2]?.kill("SIGKILL");
    pair = pair.with(round % 2, start());
  }
  const missing = async () => {
    const all = (await delivered()).map((one) => `${one.checkoutIntentId} ${one.kind} ${one.recipientId}`);
    expect(new Set(all).size).toBe(all.length);
    await makeDue("halfTime");
    return ids.length * 4 - all.length;
  };
  await expect.poll(missing, { interval: 100 }).toBe(0);
  // Each mail belongs to a delivery, so no mail was written twice.
  expect(await database().$count(mails)).toBe(new Set((await delivered()).map(({ mailId }) => mailId)).size);
});

test("notices are deleted after thirty days, with their deliveries", async () => {
  const { buyer, mandateId } = await askingBuyer();
  await openRequest(buyer, mandateId);
  await tell();
  expect(await forgetOldNotices()).toBe(0);
  await database()
    .update(notices)
    .set({ endedAt: sql`statement_timestamp() - interval '31 days'` })
    .where(eq(notices.kind, "opened"));
  expect(await forgetOldNotices()).toBe(1);
  expect(await delivered()).toEqual([]);
});
