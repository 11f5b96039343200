import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { followUsage } from "#lib/alerts/follow-usage.ts";
import { alerts } from "#lib/alerts/tables.ts";
import { waivers } from "#lib/approvals/tables.ts";
import { closeCardPayment } from "#lib/cards/close-card-payment.ts";
import * as contract from "#lib/cards/contract.ts";
import { sweepCards } from "#lib/cards/sweep-cards.ts";
import { database } from "#lib/db/client.ts";
import { cardAuthorizations, cardParts } from "#lib/holds/card-tables.ts";
import { allowPaymentOnce as allowOnce } from "#lib/payments/contract.ts";
import { allowPaymentOnce } from "#lib/payments/refusals/allow-payment-once.ts";
import { authorization, newId, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { lockingMandate } from "#test/lock-mandate.ts";
import { proved } from "#test/proofs.ts";
import { budgetOf, EUR, USD } from "#test/recording.ts";
import { send as ask } from "#test/tenant.ts";

useDatabase();
const { at, map, mandateFor, send } = useCards();

const REQUEST = "issuing_authorization.request";
const CREATED = "issuing_authorization.created";
const UPDATED = "issuing_authorization.updated";
const TRANSACTION = "issuing_transaction.created";

const rowOf = async (stripeId: string) =>
  (await database().select().from(cardAuthorizations).where(eq(cardAuthorizations.stripeId, stripeId)))[0];
const idOf = async (reply: ReturnType<typeof send>) => (await reply).data.metadata!["authorizationId"]!;
async function scene(total = "100", more?: Record<string, unknown>) {
  const mandateId = await mandateFor(total, more);
  return { mandateId, cardId: await map(mandateId), iauth: newId("iauth") };
}
const next = <T extends { cardId: string }>(it: T) => ({ ...it, iauth: newId("iauth") });
/** As if days had passed since Stripe asked, of the four for which a decision waits for Stripe. */
async function later(authorizationId: string, days: number) {
  const expired = new Date(Date.now() - (days - 4) * 86_400_000).toISOString();
  await database().execute(sql`ALTER TABLE authorizations DISABLE TRIGGER USER`);
  await database().execute(
    sql`UPDATE authorizations SET expires_at = ${expired}::timestamptz WHERE authorization_id = ${authorizationId}`,
  );
}
const close = (id: string) =>
  proved(at.person, () => ask(contract.closeCardPayment, closeCardPayment, { as: at.person, id, body: {} }));
const clear = (id: string) => proved(at.person, () => ask(allowOnce, allowPaymentOnce, { as: at.person, id, body: {} }));

describe("the question unconfirmed", () => {
  test("ends when Stripe tells, and what Stripe confirmed cannot be freed with it", async () => {
    const it = await scene();
    const id = await idOf(send(REQUEST, request(it, 5_000)));
    await later(id, 5);
    await sweepCards();
    expect((await rowOf(it.iauth))?.asks).toBe("unconfirmed");
    await send(CREATED, authorization(it, { amount: 5_000 }));
    const { asks } = (await rowOf(it.iauth))!;
    await close(id);
    expect({ asks, budget: await budgetOf(it.mandateId) }).toEqual({ asks: null, budget: [0, 50] });
  });

  test("about an increment frees only the increment, not what Stripe confirmed", async () => {
    const it = await scene();
    await send(REQUEST, request(it, 3_000));
    await send(CREATED, authorization(it, { amount: 3_000 }));
    const second = await idOf(send(REQUEST, request(it, 2_000, 1)));
    await later(second, 5);
    await sweepCards();
    expect((await rowOf(it.iauth))?.asks).toBe("unconfirmed");
    expect((await close(second)).status).toBe(200);
    expect(await budgetOf(it.mandateId)).toEqual([0, 30]);
  });

  test("is not asked about the rest of a purchase that was captured and closed a week after its decision", async () => {
    const it = await scene();
    const id = await idOf(send(REQUEST, request(it, 5_000)));
    await send(CREATED, authorization(it, { amount: 5_000 }));
    await later(id, 8);
    const capture = transaction(it, 4_000);
    await send(TRANSACTION, capture);
    await send(UPDATED, authorization(it, { amount: 5_000, status: "closed", transactions: [capture] }));
    await sweepCards();
    expect((await rowOf(it.iauth))?.asks).toBe(null);
  });

  test("is asked about a confirmed authorization of which nothing was told for forty days", async () => {
    const it = await scene();
    const id = await idOf(send(REQUEST, request(it, 5_000)));
    await send(CREATED, authorization(it, { amount: 5_000 }), { created: Math.floor(Date.now() / 1000) - 40 * 86_400 });
    await later(id, 44);
    await sweepCards();
    const { status } = await close(id);
    expect({ asks: (await rowOf(it.iauth))?.asks, status }).not.toEqual({ asks: null, status: 409 });
  });
});

describe("clearances", () => {
  test("nobody clears a purchase that Stripe let pass without asking", async () => {
    const it = await scene("100", { cards: undefined });
    await send(TRANSACTION, transaction(it, 2_000, { authorization: null }));
    expect(await budgetOf(it.mandateId)).toEqual([20, 0]);
    const [part] = await database().select().from(cardParts).where(sql`captured > 0 AND authorization_id IN
      (SELECT authorization_id FROM authorizations WHERE mandate_id = ${it.mandateId})`);
    await followUsage();
    const told = (await database().select().from(alerts).where(eq(alerts.subjectId, it.mandateId))).map(({ facts }) => facts);
    const { status } = await clear(part!.authorizationId);
    const { approved } = (await send(REQUEST, request(next(it), 2_000))).data;
    expect({ told, status, approved }).toEqual({ told: [], status: 409, approved: false });
  });

  test("a clearance is for one currency", async () => {
    const it = await scene("1000", {
      cards: undefined,
      assets: [
        { ...USD, counts: "1" },
        { ...EUR, counts: "1.12" },
      ],
    });
    await clear(await idOf(send(REQUEST, request(it, 3_000))));
    const eur = { currency: "eur", pending_request: { amount: 3_000, currency: "eur" } };
    expect((await send(REQUEST, request(next(it), 0, 0, eur))).data).toMatchObject({ approved: false });
  });

  test("a forced capture does not use up the clearance of a purchase", async () => {
    const it = await scene("100", { cards: undefined });
    const id = await idOf(send(REQUEST, request(it, 3_000)));
    await clear(id);
    await send(TRANSACTION, transaction(it, 3_000, { authorization: null }));
    const [waiver] = await database().select().from(waivers).where(eq(waivers.authorizationId, id));
    expect(waiver!.usedByAuthorizationId).toBe(null);
  });

  test("another merchant with the same network id in another country does not pass", async () => {
    const it = await scene("100", { cards: undefined });
    await clear(await idOf(send(REQUEST, request(it, 3_000))));
    const merchant_data = { category: "betting_casino_gambling", country: "RU", name: "Casino", network_id: "4711" };
    expect((await send(REQUEST, request(next(it), 3_000, 0, { merchant_data }))).data).toMatchObject({ approved: false });
  });
});

test("a merchant name with a NUL does not keep a capture uncounted", async () => {
  const it = await scene();
  const merchant_data = { category: "bars", country: "US", name: "Bar\u0000", network_id: "9" };
  const { status } = await send(TRANSACTION, transaction(it, 2_000, { authorization: null, merchant_data }));
  expect({ status, budget: await budgetOf(it.mandateId) }).toEqual({ status: 200, budget: [20, 0] });
});

test("merchant names with control characters harm nobody", async () => {
  const it = await scene();
  const merchant_data = {
    category: "b\u0001\u0002\u0003",
    country: "U\u0001",
    name: "B\u0001\u0002\u0003\ud83d\ude00",
    network_id: "\u0001\u0003",
  };
  const { data } = await send(REQUEST, request(it, 2_000, 0, { merchant_data }));
  expect({ data, broken: await brokenSums() }).toMatchObject({ data: { approved: true }, broken: [] });
});

describe("a merchant without a name", () => {
  const merchant_data = { category: "bars", country: "US", name: "", network_id: "9" };

  test("is paid as the mandate says", async () => {
    const it = await scene();
    expect((await send(REQUEST, request(it, 2_000, 0, { merchant_data }))).data).toMatchObject({ approved: true });
  });

  test("is counted if Stripe did not ask", async () => {
    const it = await scene();
    const { status } = await send(TRANSACTION, transaction(it, 2_000, { authorization: null, merchant_data }));
    expect({ status, budget: await budgetOf(it.mandateId) }).toEqual({ status: 200, budget: [20, 0] });
  });
});

test("metadata of a card does not turn an event into a request", async () => {
  const it = await scene();
  const release = await lockingMandate(it.mandateId);
  await send(REQUEST, request(it, 1_000));
  const told = transaction(it, 1_000, { card: { id: it.cardId, metadata: { type: "issuing_authorization.request" } } });
  const answer = send(TRANSACTION, told);
  const { data } = await Promise.race([
    answer,
    new Promise<Awaited<typeof answer>>((resolve) =>
      setTimeout(() => resolve({ status: 0, data: {}, headers: new Headers() }), 3_000),
    ),
  ]);
  await release();
  await answer;
  expect(data.approved).toBe(undefined);
});
