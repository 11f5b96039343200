import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { sweepCards } from "#lib/cards/sweep-cards.ts";
import { cardAuthorizations } from "#lib/holds/card-tables.ts";
import { database } from "#lib/db/client.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { executePayment as executeOperation } from "#lib/payments/contract.ts";
import { post } from "#test/asking.ts";
import { authorization, newId, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { budgetOf, invoiceOf, record } from "#test/recording.ts";
import { send as ask } from "#test/tenant.ts";

useDatabase();
const { at, purchase, send } = useCards();
afterEach(async () => expect(await brokenSums()).toEqual([]));

const REQUEST = "issuing_authorization.request";
const CREATED = "issuing_authorization.created";
const UPDATED = "issuing_authorization.updated";
const TRANSACTION = "issuing_transaction.created";

const rowOf = async (stripeId: string) =>
  (await database().select().from(cardAuthorizations).where(eq(cardAuthorizations.stripeId, stripeId)))[0];

describe("a request of a card", () => {
  test("is decided by the mandate of the card, in the form that Stripe reads", async () => {
    const it = await purchase("100");
    const allowed = await send(REQUEST, request(it, 6_000));
    expect(allowed).toMatchObject({ status: 200, data: { approved: true, metadata: { reason: "allowed" } } });
    expect(allowed.headers.get("stripe-version")).toMatch(/^20\d\d-\d\d-\d\d/);
    expect(await budgetOf(it.mandateId)).toEqual([0, 60]);
    const denied = await send(REQUEST, request({ ...it, iauth: newId("iauth") }, 6_000));
    expect(denied.data).toMatchObject({ approved: false, metadata: { reason: "total_budget_exceeded" } });
    expect(await budgetOf(it.mandateId)).toEqual([0, 60]);
  });

  test("that comes twice is decided once, also at the same time", async () => {
    const it = await purchase();
    const id = newId("evt");
    const replies = await Promise.all([1, 2, 3].map(() => send(REQUEST, request(it, 4_000), { id })));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect((await send(REQUEST, request(it, 4_000), { id })).data).toEqual(replies[0]!.data);
    expect(await budgetOf(it.mandateId)).toEqual([0, 40]);
  });

  test("is declined without a card, for a paused or revoked agent, and in another currency", async () => {
    const it = await purchase();
    const reasonOf = async (change: Record<string, unknown> = {}, cardId = it.cardId) =>
      (await send(REQUEST, request({ ...it, cardId, iauth: newId("iauth") }, 100, 0, change))).data;
    expect(await reasonOf({}, newId("ic"))).toEqual({ approved: false, metadata: { reason: "card_not_mapped" } });
    const pending_request = { amount: 100, currency: "jpy" };
    expect(await reasonOf({ pending_request })).toEqual({ approved: false, metadata: { reason: "currency_not_served" } });
    expect(await reasonOf({ pending_request: { amount: 100, currency: "eur" } })).toMatchObject({
      metadata: { reason: "asset_not_allowed" },
    });
    const account = eq(serviceAccounts.serviceAccountId, at.serviceAccountId);
    await database().update(serviceAccounts).set({ pausedAt: new Date() }).where(account);
    expect(await reasonOf()).toEqual({ approved: false, metadata: { reason: "agent_paused" } });
    await database().update(serviceAccounts).set({ pausedAt: null }).where(account);
    expect(await reasonOf()).toMatchObject({ approved: true });
  });

  test.each([
    ["no rules for cards", {}, { cards: undefined }],
    ["another category", {}, { cards: { categories: ["advertising_services"] } }],
    ["another country", {}, { cards: { countries: ["DE"] } }],
    ["another merchant", {}, { cards: { merchants: ["1"] } }],
    ["a person who is always asked", {}, { approval: { mode: "always" } }],
  ])("is declined until a person clears it, with %s", async (_, change, policy) => {
    const it = await purchase("100", policy);
    const { data } = await send(REQUEST, request(it, 1_000, 0, change));
    expect(data).toMatchObject({ approved: false, metadata: { reason: "clearance_needed" } });
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
  });

  test("of a merchant in every list is allowed", async () => {
    const lists = { categories: ["computer_software_stores"], countries: ["US"], merchants: ["4711"] };
    const it = await purchase("100", { cards: lists });
    expect((await send(REQUEST, request(it, 1_000))).data.approved).toBe(true);
  });

  test("that is answered while the mandate is locked for longer is declined within its time, and counts until Stripe tells", async () => {
    const it = await purchase();
    const { promise, resolve } = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const blocking = database().transaction(async (tx) => {
      await tx.execute(sql`SELECT FROM mandates WHERE mandate_id = ${it.mandateId} FOR UPDATE`);
      locked.resolve();
      await promise;
    });
    await locked.promise;
    const { data } = await send(REQUEST, request(it, 3_000));
    expect(data).toEqual({ approved: false, metadata: { reason: "too_late" } });
    resolve();
    await blocking;
    await expect.poll(() => budgetOf(it.mandateId), { timeout: 10_000 }).toEqual([0, 30]);
    await send(
      CREATED,
      authorization(it, { approved: false, status: "closed", amount: 3_000, request_history: [{ reason: "webhook_declined" }] }),
    );
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
  });
});

describe("what Stripe tells of an authorization", () => {
  test("moves its hold: an increment, a part that is reversed, captures in parts, and the end", async () => {
    const it = await purchase("100");
    const history = (length: number) => ({ request_history: Array.from({ length }, () => ({ reason: "webhook_approved" })) });
    await send(REQUEST, request(it, 5_000));
    await send(CREATED, authorization(it, { amount: 5_000 }));
    await send(REQUEST, request(it, 2_000, 1));
    expect(await budgetOf(it.mandateId)).toEqual([0, 70]);
    await send(UPDATED, authorization(it, { amount: 7_000, ...history(2) }));
    await send(UPDATED, authorization(it, { amount: 6_000, ...history(2) }), { created: 2_000_000_000 });
    expect(await budgetOf(it.mandateId)).toEqual([0, 60]);
    const first = transaction(it, 2_500);
    await send(TRANSACTION, first);
    await send(TRANSACTION, first);
    expect(await budgetOf(it.mandateId)).toEqual([25, 35]);
    const last = transaction(it, 3_000);
    await send(UPDATED, authorization(it, { amount: 6_000, status: "closed", ...history(2), transactions: [first, last] }));
    await send(TRANSACTION, last);
    // The last transaction may come later than the end.
    expect(await budgetOf(it.mandateId)).toEqual([55, 5]);
    await database().execute(sql`UPDATE card_authorizations SET tail_until = now() WHERE stripe_id = ${it.iauth}`);
    await sweepCards();
    expect(await budgetOf(it.mandateId)).toEqual([55, 0]);
  });

  test("that it declined or reversed frees all, and an earlier event changes nothing any more", async () => {
    const it = await purchase();
    const created = authorization(it, { amount: 5_000 });
    await send(REQUEST, request(it, 5_000));
    await send(UPDATED, { ...created, status: "reversed" });
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
    await send(CREATED, created);
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
  });

  test("that expired is held for seven more days", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 5_000));
    await send(UPDATED, authorization(it, { amount: 5_000, status: "expired" }));
    expect(await budgetOf(it.mandateId)).toEqual([0, 50]);
    const { tailUntil } = (await rowOf(it.iauth))!;
    expect(tailUntil!.getTime()).toBeGreaterThan(Date.now() + 6.9 * 86_400_000);
    await send(TRANSACTION, transaction(it, 5_000));
    expect(await budgetOf(it.mandateId)).toEqual([50, 0]);
  });

  test("captured for more than was held counts above every limit, and people are asked", async () => {
    const it = await purchase("100");
    await send(REQUEST, request(it, 9_000));
    await send(TRANSACTION, transaction(it, 12_000));
    expect(await budgetOf(it.mandateId)).toEqual([120, 0]);
    expect((await rowOf(it.iauth))?.asks).toBe("exceeded");
    expect((await send(REQUEST, request({ ...it, iauth: newId("iauth") }, 100))).data.approved).toBe(false);
  });

  test("approved without asking is held if the mandate allows it, and counts with an alert if it does not", async () => {
    const it = await purchase("100");
    await send(CREATED, authorization(it, { amount: 8_000 }));
    expect(await budgetOf(it.mandateId)).toEqual([0, 80]);
    const other = { ...it, iauth: newId("iauth") };
    await send(CREATED, authorization(other, { amount: 8_000, request_history: [{ reason: "webhook_timeout" }] }));
    expect(await budgetOf(it.mandateId)).toEqual([0, 80]);
    expect((await rowOf(other.iauth))?.asks).toBe("outside");
    await send(TRANSACTION, transaction(other, 8_000));
    expect(await budgetOf(it.mandateId)).toEqual([80, 80]);
  });

  test("captured without any request counts too, once", async () => {
    const it = await purchase("100");
    const forced = transaction(it, 2_000, { authorization: null });
    await send(TRANSACTION, forced);
    await send(TRANSACTION, forced);
    expect(await budgetOf(it.mandateId)).toEqual([20, 0]);
  });

  test("a refund is kept and frees nothing", async () => {
    const it = await purchase("100");
    await send(REQUEST, request(it, 5_000));
    await send(TRANSACTION, transaction(it, 5_000));
    await send(TRANSACTION, transaction(it, -5_000, { type: "refund" }));
    expect(await budgetOf(it.mandateId)).toEqual([50, 0]);
  });

  test("many events at once end as one after the other", async () => {
    const it = await purchase("100");
    await send(REQUEST, request(it, 5_000));
    const parts = [1_000, 1_500, 500].map((amount) => transaction(it, amount));
    await Promise.all([
      ...parts.map((part) => send(TRANSACTION, part)),
      send(UPDATED, authorization(it, { amount: 5_000, transactions: parts })),
      ...parts.map((part) => send(TRANSACTION, part)),
    ]);
    expect(await budgetOf(it.mandateId)).toEqual([30, 20]);
  });
});

describe("a call that is not Stripe's", () => {
  test("is refused: another secret, an unknown connection, no JSON", async () => {
    const it = await purchase();
    const wrong = await send(REQUEST, request(it, 100), { secret: "whsec_another_secret_0123456789abcdef" });
    expect(wrong.status).toBe(403);
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
    expect((await send("issuing_card.created", { id: it.cardId })).data).toEqual({ received: true });
    const unreadable = { approved: false, metadata: { reason: "invalid_request" } };
    expect(await send(REQUEST, { id: "no authorization" })).toMatchObject({ status: 200, data: unreadable });
    expect((await send(UPDATED, { id: "no authorization" })).status).toBe(400);
    for (const text of ["{", "[]", '{"id":"evt_1","id":"evt_2"}', '{"id":"evt_1","type":7}'])
      expect((await send(REQUEST, {}, { text })).status, text).toBe(400);
  });

  test("cannot execute what a card pays", async () => {
    const it = await purchase();
    const authorizationId = (await send(REQUEST, request(it, 1_000))).data.metadata!["authorizationId"]!;
    const body = { idempotencyKey: newId("key"), authorizationId };
    expect((await ask(executeOperation, executePayment, { as: at.agent, body })).status).toBe(403);
    expect((await record(at.person, authorizationId, "notPaid", "0")).status).toBe(409);
    expect(await budgetOf(it.mandateId)).toEqual([0, 10]);
  });

  test("and an agent cannot ask for a payment by card itself", async () => {
    const { mandateId } = await purchase();
    const { status } = await post({ mandateId, intent: invoiceOf("1", { paymentChallengeType: "card" }) }, at.agent);
    expect(status).toBe(400);
  });
});
