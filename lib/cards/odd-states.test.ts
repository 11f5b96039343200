import { randomBytes } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, onTestFinished, test } from "vitest";
import * as contract from "#lib/cards/contract.ts";
import { setCard } from "#lib/cards/set-card.ts";
import { resealCardSecrets } from "#lib/cards/sweep-cards.ts";
import { updateCardConnection } from "#lib/cards/update-card-connection.ts";
import { database } from "#lib/db/client.ts";
import { mandatesWithDueHolds } from "#lib/holds/sweep-store.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { bucketsFromAuthorizations, lifetimeFromAuthorizations } from "#lib/mandates/window-store.ts";
import * as payments from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { forget } from "#lib/process.ts";
import { authorization, connectStripe, fromStripe, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { lockingMandate } from "#test/lock-mandate.ts";
import { proved } from "#test/proofs.ts";
import { budgetOf } from "#test/recording.ts";
import { send as ask } from "#test/tenant.ts";

useDatabase();
const { at, mandateFor, purchase, send } = useCards();

const REQUEST = "issuing_authorization.request";
const CREATED = "issuing_authorization.created";
const TRANSACTION = "issuing_transaction.created";

function configure(values: Readonly<Record<string, string>>) {
  Object.assign(process.env, values);
  forget("env", "key-ring", "webhooks/secrets");
}

describe("a card or connection that has ended", () => {
  test("is not approved after the answer that it was removed", async () => {
    const it = await purchase();
    const { organizationId } = at.buyer;
    const released = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const blocking = database().transaction(async (tx) => {
      await tx.execute(sql`SELECT FROM audit_heads WHERE chain = ${organizationId} FOR UPDATE`);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const removing = ask(contract.setCard, setCard, {
      as: at.person,
      id: [at.connectionId, it.cardId],
      body: { mandateId: null },
    });
    let removedFirst = false;
    let approvedAfter = false;
    const removed = removing.then(({ status }) => {
      expect(status).toBe(200);
      removedFirst = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const asking = send(REQUEST, request(it, 1_000)).then(({ data }) => {
      approvedAfter = removedFirst && data.approved === true;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    released.resolve();
    await Promise.all([blocking, removed, asking]);
    expect(approvedAfter).toBe(false);
  });
});

describe("beside other changes", () => {
  test("the holds of cards of a revoked mandate are not due in each sweep", async () => {
    const it = await purchase("100");
    await send(REQUEST, request(it, 9_000));
    await database().update(mandates).set({ status: "revoked" }).where(eq(mandates.mandateId, it.mandateId));
    const due = await mandatesWithDueHolds(database(), { since: new Date(0), until: null }, "", 100);
    expect(due).not.toContain(it.mandateId);
  });

  test("a new window counts what was captured of a denied payment", async () => {
    const it = await purchase("100");
    await send(TRANSACTION, transaction(it, 12_000, { authorization: null }));
    expect(await budgetOf(it.mandateId)).toEqual([120, 0]);
    const window = { windowKey: "PT24H" };
    const now = new Date();
    const found = await database().transaction((tx) =>
      bucketsFromAuthorizations(tx, it.mandateId, { key: window.windowKey, kind: "rolling", spanMs: 86_400_000 }, now),
    );
    const life = await database().transaction((tx) => lifetimeFromAuthorizations(tx, it.mandateId, now));
    expect([found.reduce((sum, { spent }) => sum + spent, 0n), life.used]).toEqual([120_000_000_000n, 120_000_000_000n]);
  });

  test("what is captured beyond is booked under the mandate that allowed the payment", async () => {
    const it = await purchase("100");
    const other = await mandateFor("10");
    await send(REQUEST, request(it, 5_000));
    const body = { name: "A card", mandateId: other, serviceAccountId: at.serviceAccountId };
    await proved(at.person, () => ask(contract.setCard, setCard, { as: at.person, id: [at.connectionId, it.cardId], body }));
    expect((await send(REQUEST, request(it, 2_000, 1))).data.approved).toBe(false);
    await send(TRANSACTION, transaction(it, 6_000));
    expect([await budgetOf(it.mandateId), await budgetOf(other)]).toEqual([
      [60, 0],
      [0, 0],
    ]);
  });

  test("events of one busy mandate leave room for requests under others", async () => {
    const [busy, it] = [await purchase(), await purchase()];
    await send(REQUEST, request(busy, 5_000));
    const release = await lockingMandate(busy.mandateId);
    const events = Array.from({ length: 60 }, () => send(TRANSACTION, transaction(busy, 1)));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { data } = await send(REQUEST, request(it, 1_000));
    await release();
    await Promise.all(events);
    expect(data).toMatchObject({ approved: true });
  });

  test("two events of an authorization that Stripe did not ask about are both taken", async () => {
    const it = await purchase();
    const release = await lockingMandate(it.mandateId);
    const timeout = { amount: 5_000, request_history: [{ reason: "webhook_timeout" }] };
    const created = send(CREATED, authorization(it, timeout));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const captured = send(TRANSACTION, transaction(it, 6_000));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await release();
    const statuses = (await Promise.all([created, captured])).map(({ status }) => status);
    expect({ statuses, spent: (await budgetOf(it.mandateId))[0] }).toEqual({ statuses: [200, 200], spent: 60 });
  });
});

describe("answers", () => {
  test("a request of a connection that has ended is declined, as its description says", async () => {
    const it = await purchase();
    const connectionId = await connectStripe(at.person);
    const ending = { as: at.person, id: connectionId, body: { ended: true } };
    expect((await ask(contract.updateCardConnection, updateCardConnection, ending)).status).toBe(200);
    expect(await fromStripe(connectionId, REQUEST, request(it, 1_000))).toMatchObject({ status: 200, data: { approved: false } });
  });

  test("a payment by card has one protocol", async () => {
    const it = await purchase();
    const id = (await send(REQUEST, request(it, 1_000))).data.metadata!["authorizationId"]!;
    const { data } = await ask(payments.getPayment, getPayment, { as: at.agent, id });
    const { intent } = data;
    expect(intent.feeQuote.paymentProtocol).toBe(intent.paymentProtocol);
  });

  test("a signed request that cannot be read is declined, because an error hands the decision to a setting", async () => {
    const it = await purchase();
    const merchant_data = { category: "computer_software_stores", country: "US", name: "N".repeat(300), network_id: "4711" };
    expect(await send(REQUEST, request(it, 1_000, 0, { merchant_data }))).toMatchObject({ status: 200 });
  });

  test("a request with a long history is decided", async () => {
    const it = await purchase();
    const entry = { amount: 100, approved: true, reason: "webhook_approved", reason_message: "x".repeat(400), currency: "usd" };
    const request_history = Array.from({ length: 150 }, () => entry);
    expect(await send(REQUEST, request(it, 1_000, 0, { request_history }))).toMatchObject({ status: 200 });
  });

  test("a live event is not decided by a connection of the sandbox", async () => {
    const it = await purchase();
    const { data } = await send(REQUEST, request(it, 1_000), { livemode: true });
    expect(data.approved).not.toBe(true);
  });

  test("an account is verified without an amount", async () => {
    const it = await purchase();
    expect((await send(REQUEST, request(it, 0))).data.approved).toBe(true);
  });
});

// The last test, because the other connections are then encrypted with its key.
test("old keys can be removed after all secrets were encrypted again", async () => {
  const kept = { WEBHOOK_ENCRYPTION_KEY: process.env["WEBHOOK_ENCRYPTION_KEY"] ?? "" };
  onTestFinished(() => configure(kept));
  const [first, second] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64url")) as [string, string];
  const it = await purchase();
  configure({ WEBHOOK_ENCRYPTION_KEY: first });
  const connectionId = await connectStripe(at.person);
  configure({ WEBHOOK_ENCRYPTION_KEY: `${second},${first}` });
  await resealCardSecrets();
  configure({ WEBHOOK_ENCRYPTION_KEY: second });
  expect((await fromStripe(connectionId, REQUEST, request(it, 100))).status).toBe(200);
});
