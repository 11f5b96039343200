import { eq } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { user } from "#lib/identity/tables.ts";
import { sendMails } from "#lib/mail/send-mails.ts";
import { mails } from "#lib/mail/tables.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { getPayment as operation } from "#lib/payments/contract.ts";
import { expire, read, reject } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { startSmtp, type Mailbox } from "#test/mail.ts";
import { askingBuyer, openRequest } from "#test/notices.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

let smtp: Mailbox | undefined;
afterEach(async () => {
  await smtp?.stop();
  smtp = undefined;
  await database().delete(mails);
});

/**
 * Opens a request for approval. `payment` reads its payment as an agent; `both` checks that the payment and the checkout report
 * the same notification.
 */
async function askedScene() {
  const { buyer, mandateId } = await askingBuyer();
  const { checkoutIntentId, authorizationId } = await openRequest(buyer, mandateId);
  const { credential: as } = await createAgent(buyer.organizationId, ["payments:read", "checkouts:read"]);
  const payment = async (id = authorizationId) => (await send(operation, getPayment, { as, id })).data;
  const both = async () => {
    const checkout = (await read(checkoutIntentId, as)).data.notification;
    expect((await payment()).notification).toEqual(checkout);
    return checkout;
  };
  return { buyer, mandateId, checkoutIntentId, authorizationId, payment, both };
}

async function tell(): Promise<void> {
  await followEvents();
  await sendNotices();
  await sendMails();
}

const refusing = (responseCode: number) =>
  startSmtp({ onRcptTo: (_, __, done) => done(Object.assign(new Error("refused"), { responseCode })) });

describe("what an agent reads about the people it asked", () => {
  test("says when the mail server accepted the first mail, and nothing after the decision", async () => {
    smtp = await startSmtp();
    const scene = await askedScene();
    expect(await scene.both()).toMatchObject({ status: "pending", channels: [{ channel: "mail" }] });
    await tell();
    const told = await scene.both();
    expect(told).toMatchObject({ status: "accepted", channels: [{ channel: "mail" }] });
    const [sent] = await database().select().from(mails);
    expect(told?.channels[0]?.acceptedAt).toBe(sent?.endedAt?.toISOString());
    await reject(scene.checkoutIntentId, scene.buyer.person.credential);
    expect(await scene.both()).toBeUndefined();
    expect(await scene.payment()).toMatchObject({ approval: { status: "rejected" }, checkout: { status: "rejected" } });
  });

  test("says at once that nobody is told if no mail server is configured", async () => {
    const scene = await askedScene();
    expect(await scene.both()).toMatchObject({ status: "unreachable" });
    await tell();
    expect(await scene.both()).toMatchObject({ status: "unreachable", detail: expect.stringContaining("/outbox") });
  });

  test("says that nobody was told if the mail server refuses the mail finally, or temporarily twice", async () => {
    smtp = await refusing(550);
    const refused = await askedScene();
    await tell();
    expect(await refused.both()).toMatchObject({ status: "unreachable" });
    await smtp.stop();
    smtp = await refusing(450);
    const delayed = await askedScene();
    await tell();
    expect(await delayed.both()).toMatchObject({ status: "pending" });
    await database()
      .update(mails)
      .set({ nextAttemptAt: new Date(0) });
    await sendMails();
    const told = await delayed.both();
    expect(told).toMatchObject({ status: "unreachable" });
    expect(told?.channels[0]).not.toHaveProperty("acceptedAt");
  });

  test("says so if nobody who may approve has a confirmed address", async () => {
    smtp = await startSmtp();
    const scene = await askedScene();
    await database().update(user).set({ emailVerified: false }).where(eq(user.id, scene.buyer.person.userId));
    await tell();
    expect(await scene.both()).toMatchObject({ status: "unreachable", detail: expect.stringContaining("confirmed") });
  });

  test("shows a second payment with the same question the request of the first payment, and that it expired", async () => {
    const scene = await askedScene();
    const twin = await openRequest(scene.buyer, scene.mandateId);
    expect(twin.authorizationId).not.toBe(scene.authorizationId);
    await expire(scene.checkoutIntentId);
    for (const id of [scene.authorizationId, twin.authorizationId]) {
      const { checkout, approval } = await scene.payment(id);
      expect([checkout?.checkoutIntentId, checkout?.status, approval]).toEqual([scene.checkoutIntentId, "expired", undefined]);
    }
  });
});
