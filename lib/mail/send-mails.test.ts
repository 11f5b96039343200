import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database, pool } from "#lib/db/client.ts";
import { takeAttempt } from "#lib/http/attempts-store.ts";
import { newId } from "#lib/ids.ts";
import { mailRow, queueMail, type Mail } from "#lib/mail/queue-mail.ts";
import { mailPauseAfter, sendMails } from "#lib/mail/send-mails.ts";
import { forgetOldMails, insertMail, insertMailOn, newestKept } from "#lib/mail/store.ts";
import { mails } from "#lib/mail/tables.ts";
import { bringAllForward } from "#lib/platform/due-time-store.ts";
import { useDatabase } from "#test/database.ts";
import { startSmtp, type Mailbox } from "#test/mail.ts";

useDatabase();

let smtp: Mailbox | undefined;
afterEach(async () => {
  await smtp?.stop();
  smtp = undefined;
  await database().delete(mails);
});

const mail = (to: string, more: Partial<Mail> = {}): Mail => ({
  to,
  subject: "A receipt",
  paragraphs: ["You approved 43.00 USDC."],
  action: { label: "Open it", path: "/payments" },
  note: "You get this because you approved a payment.",
  ...more,
});
const queue = (to: string, more: Partial<Mail> = {}) => transact((tx) => queueMail(tx, mail(to, more)));
const rows = () => database().select().from(mails);
const due = () =>
  database()
    .update(mails)
    .set({ nextAttemptAt: new Date(0) });

describe("the outbox", () => {
  test("a mail exists only if the transaction that causes it commits", async () => {
    const failed = transact(async (tx) => {
      await queueMail(tx, mail("ada@example.com"));
      throw new Error("rolled back");
    });
    await expect(failed).rejects.toThrow("rolled back");
    expect(await rows()).toEqual([]);
    await queue("ada@example.com");
    expect(await rows()).toHaveLength(1);
  });

  test("a sandbox without SMTP stores mail for reading, and sends none", async () => {
    await queue("ada@example.com");
    await queue("bob@example.com");
    expect(await sendMails()).toBe(0);
    const kept = await newestKept(10);
    expect(kept.map(({ recipient, status }) => [recipient, status])).toEqual([
      ["bob@example.com", "kept"],
      ["ada@example.com", "kept"],
    ]);
    expect(kept[0]?.plain).toContain("http://localhost:3000/payments");
  });
});

describe("sendMails", () => {
  test("each mail is sent once by parallel workers, and its text is deleted afterwards", async () => {
    smtp = await startSmtp();
    for (let index = 0; index < 24; index += 1) await queue(`reader-${index}@example.com`);
    while ((await Promise.all([sendMails(), sendMails(), sendMails()])).some((count) => count > 0));
    expect(smtp.received).toHaveLength(24);
    const to = smtp.received.map((text) => /^To: (.*)$/m.exec(text)?.[1]?.trim());
    expect(new Set(to).size).toBe(24);
    expect(smtp.received[0]).toMatch(/^From: Countersign <pay@example\.com>\r?$/m);
    for (const row of await rows()) expect(row).toMatchObject({ status: "sent", plain: "", html: "", nextAttemptAt: null });
  });

  test("a temporary refusal is tried again later, with the same Message-ID", async () => {
    let refuse = true;
    smtp = await startSmtp({
      onRcptTo: (_, __, done) => done(refuse ? Object.assign(new Error("busy"), { responseCode: 450 }) : null),
    });
    await queue("ada@example.com");
    await sendMails();
    const [postponed] = await rows();
    expect(postponed).toMatchObject({ status: "queued", attempts: 1 });
    expect(postponed!.nextAttemptAt!.getTime()).toBeGreaterThan(postponed!.createdAt.getTime() + mailPauseAfter(1) - 1_000);
    expect(await sendMails()).toBe(0);
    refuse = false;
    await due();
    await sendMails();
    expect(smtp.received).toHaveLength(1);
    expect(smtp.received[0]).toContain(`Message-ID: <${postponed!.mailId}@localhost>`);
  });

  test("no mail is lost while the server is unavailable", async () => {
    smtp = await startSmtp();
    await smtp.stop();
    process.env["SMTP_URL"] = `smtp://127.0.0.1:${smtp.port}`;
    process.env["MAIL_FROM"] = "pay@example.com";
    await queue("ada@example.com");
    await sendMails();
    expect(await rows()).toMatchObject([{ status: "queued", attempts: 1 }]);
    expect((await rows())[0]?.plain).not.toBe("");
  });

  test("a permanent refusal ends the attempts at once, others after twelve attempts", async () => {
    smtp = await startSmtp({ onRcptTo: (_, __, done) => done(Object.assign(new Error("no such user"), { responseCode: 550 })) });
    await queue("nobody@example.com");
    await sendMails();
    expect(await rows()).toMatchObject([{ status: "failed", attempts: 1, plain: "" }]);
    await smtp.stop();
    smtp = await startSmtp({ onRcptTo: (_, __, done) => done(Object.assign(new Error("busy"), { responseCode: 451 })) });
    await database().delete(mails);
    await queue("ada@example.com");
    await database().update(mails).set({ attempts: 11 });
    await sendMails();
    expect(await rows()).toMatchObject([{ status: "failed", attempts: 12 }]);
  });

  test("a mail whose workers died in all of its attempts is not sent once more", async () => {
    smtp = await startSmtp();
    await queue("ada@example.com");
    await database().update(mails).set({ attempts: 12 });
    expect(await sendMails()).toBe(1);
    expect(smtp.received).toEqual([]);
    expect(await rows()).toMatchObject([{ status: "failed", plain: "" }]);
  });

  test("if a worker dies, the mail is sent after its lease has expired, not before", async () => {
    smtp = await startSmtp();
    await queue("ada@example.com");
    await database()
      .update(mails)
      .set({ attempts: 1, nextAttemptAt: sql`statement_timestamp() + interval '2 minutes'` });
    expect(await bringAllForward()).toBe(0);
    expect(await sendMails()).toBe(0);
    await due();
    expect(await sendMails()).toBe(1);
    expect(smtp.received).toHaveLength(1);
  });

  test("what a clock that ran ahead has postponed is due at once when the clock is right again", async () => {
    smtp = await startSmtp();
    await queue("ada@example.com");
    await database()
      .update(mails)
      .set({ nextAttemptAt: sql`statement_timestamp() + interval '2 hours'` });
    await pool()`
      INSERT INTO webhook_endpoints (webhook_endpoint_id, organization_id, url, event_types, status, public_key, sealed, sequence)
      VALUES ('whe_1', 'org_1', 'https://example.com', '{}', 'enabled', '', '', 0)`;
    await pool()`
      INSERT INTO webhook_deliveries (webhook_delivery_id, webhook_endpoint_id, organization_id, event_id, type, status, attempts, next_attempt_at)
      SELECT 'whd_' || attempts, 'whe_1', 'org_1', 'aud_' || attempts, 'x', 'pending', attempts, clock_timestamp() + interval '2 hours'
      FROM generate_series(1, 9) attempts`;
    // The second retry of a webhook message comes after five minutes, the fourth after two hours.
    expect(await bringAllForward()).toBe(4);
    expect(await sendMails()).toBe(1);
    const waiting = await pool()`SELECT attempts FROM webhook_deliveries WHERE next_attempt_at > clock_timestamp() ORDER BY 1`;
    expect(waiting.map((row) => row["attempts"])).toEqual([4, 5, 6, 7, 8, 9]);
  });

  test("attempts that were counted while the clock ran ahead do not lock anybody out", async () => {
    const ahead = (window: number) => pool()`UPDATE rate_limit SET last_request = last_request + ${window}`;
    for (const expected of [1, 2]) expect(await takeAttempt("signIn:usr_1", 60)).toBe(expected);
    await ahead(30_000);
    expect(await takeAttempt("signIn:usr_1", 60)).toBe(3);
    await ahead(7_200_000);
    expect(await takeAttempt("signIn:usr_1", 60)).toBe(1);
    await ahead(7_200_000);
    expect(await bringAllForward()).toBe(1);
  });

  test("a mail is leased only while it is sent, so that a slow server causes no second copy", async () => {
    const leased: number[] = [];
    const note = async (done: () => void) => {
      leased.push((await rows()).filter((row) => row.status === "queued" && row.attempts > 0).length);
      done();
    };
    smtp = await startSmtp({ onRcptTo: (_, __, done) => void note(done) });
    for (let index = 0; index < 9; index += 1) await queue(`reader-${index}@example.com`);
    expect(await sendMails()).toBe(9);
    expect(leased).toHaveLength(9);
    expect(Math.max(...leased)).toBeLessThanOrEqual(4);
  });

  test("a mail with an expired link is not sent, however it was queued", async () => {
    smtp = await startSmtp();
    const ended = mailRow(mail("ada@example.com", { usefulUntil: new Date(Date.now() - 1000) }))!;
    await transact((tx) => insertMail(tx, ended));
    await insertMailOn(pool(), { ...ended, mailId: newId("mail") });
    await sendMails();
    expect(smtp.received).toEqual([]);
    expect(await rows()).toMatchObject([{ status: "failed" }, { status: "failed" }]);
  });

  test("old mail is deleted, queued mail never", async () => {
    smtp = await startSmtp();
    for (const to of ["old@example.com", "new@example.com", "waiting@example.com"]) await queue(to);
    const old = sql`statement_timestamp() - interval '31 days'`;
    await database().update(mails).set({ status: "sent", createdAt: old }).where(eq(mails.recipient, "old@example.com"));
    await database().update(mails).set({ status: "sent" }).where(eq(mails.recipient, "new@example.com"));
    await database().update(mails).set({ createdAt: old }).where(eq(mails.recipient, "waiting@example.com"));
    expect(await forgetOldMails()).toBe(1);
    expect((await rows()).map(({ recipient }) => recipient).sort()).toEqual(["new@example.com", "waiting@example.com"]);
  });
});
