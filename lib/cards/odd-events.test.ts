import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { cardAuthorizations, cardParts } from "#lib/holds/card-tables.ts";
import { serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { authorization, newId, request, transaction, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { lockingMandate } from "#test/lock-mandate.ts";
import { budgetOf } from "#test/recording.ts";

/* What Stripe may send, and what may have happened here meanwhile. */

useDatabase();
const { at, purchase, send } = useCards();

const REQUEST = "issuing_authorization.request";
const CREATED = "issuing_authorization.created";
const UPDATED = "issuing_authorization.updated";
const TRANSACTION = "issuing_transaction.created";

const next = (it: Awaited<ReturnType<typeof purchase>>) => ({ ...it, iauth: newId("iauth") });
const rowOf = async (stripeId: string) =>
  (await database().select().from(cardAuthorizations).where(eq(cardAuthorizations.stripeId, stripeId)))[0];
const statusOf = async (mandateId: string) =>
  (await database().select().from(mandates).where(eq(mandates.mandateId, mandateId)))[0]?.status;

describe("what is paid without asking is counted", () => {
  test("a forced capture counts also while the card's agent is paused", async () => {
    const it = await purchase();
    const account = eq(serviceAccounts.serviceAccountId, at.serviceAccountId);
    await database().update(serviceAccounts).set({ pausedAt: new Date() }).where(account);
    try {
      const { status } = await send(TRANSACTION, transaction(it, 3_000, { authorization: null }));
      expect({ status, budget: await budgetOf(it.mandateId) }).toEqual({ status: 200, budget: [30, 0] });
    } finally {
      await database().update(serviceAccounts).set({ pausedAt: null }).where(account);
    }
  });

  test("what Stripe approved on a timeout counts also if the agent may not authorize any more", async () => {
    const it = await purchase();
    const account = eq(serviceAccounts.serviceAccountId, at.serviceAccountId);
    await database()
      .update(serviceAccounts)
      .set({ capabilities: ["payments:read"] })
      .where(account);
    try {
      const timeout = { amount: 3_000, request_history: [{ reason: "webhook_timeout" }] };
      const { status } = await send(CREATED, authorization(it, timeout));
      await send(TRANSACTION, transaction(it, 3_000));
      expect({ status, budget: await budgetOf(it.mandateId) }).toEqual({ status: 200, budget: [30, 0] });
    } finally {
      await database()
        .update(serviceAccounts)
        .set({ capabilities: ["payments:authorize"] })
        .where(account);
    }
  });

  test("a capture in a currency without a rate is counted, or stops the mandate", async () => {
    const it = await purchase();
    const eur = { currency: "eur" };
    expect((await send(TRANSACTION, transaction(it, 3_000, { ...eur, authorization: null }))).status).toBe(200);
    const [spent] = await budgetOf(it.mandateId);
    expect(spent! > 0 || (await statusOf(it.mandateId)) === "suspended").toBe(true);
  });

  test("every further excess is told, and suspends a mandate whose limit it exceeds", async () => {
    const it = await purchase("100");
    await send(REQUEST, request(it, 1_000));
    await send(TRANSACTION, transaction(it, 1_200));
    expect(await statusOf(it.mandateId)).toBe("active");
    await send(TRANSACTION, transaction(it, 9_500));
    expect(await budgetOf(it.mandateId)).toEqual([107, 0]);
    const [part] = await database().select().from(cardParts).where(eq(cardParts.stripeId, it.iauth));
    const told = await database().select().from(auditEvents).where(eq(auditEvents.entityId, part!.authorizationId));
    const exceeded = told.filter(({ type }) => type === "payment.cardExceeded").length;
    expect({ exceeded, status: await statusOf(it.mandateId) }).toEqual({ exceeded: 2, status: "suspended" });
  });
});

describe("what Stripe did without asking is told", () => {
  const typesOf = async (entityId: string) =>
    (await database().select().from(auditEvents).where(eq(auditEvents.entityId, entityId))).map(({ type }) => type);

  test("once, also if the mandate allows it", async () => {
    const it = await purchase();
    const timeout = authorization(it, { amount: 3_000, request_history: [{ reason: "webhook_timeout" }] });
    await send(CREATED, timeout);
    await send(CREATED, timeout);
    expect([await budgetOf(it.mandateId), (await rowOf(it.iauth))?.asks]).toEqual([[0, 30], "outside"]);
    const [part] = await database().select().from(cardParts).where(eq(cardParts.stripeId, it.iauth));
    const told = await typesOf(part!.authorizationId);
    expect(told.filter((type) => type === "payment.cardOutside")).toHaveLength(1);
  });

  test("also if the process was killed after the mandate was asked, when Stripe sends the event again", async () => {
    const it = await purchase();
    const created = authorization(it, { amount: 3_000 });
    await send(CREATED, created);
    // As the killed process left it.
    await database().update(cardAuthorizations).set({ asks: "unasked" }).where(eq(cardAuthorizations.stripeId, it.iauth));
    await send(CREATED, created);
    expect([await budgetOf(it.mandateId), (await rowOf(it.iauth))?.asks]).toEqual([[0, 30], "outside"]);
  });

  test("once, of a card that pays under no mandate", async () => {
    const it = { cardId: newId("ic"), iauth: newId("iauth") };
    await send(TRANSACTION, transaction(it, 3_000));
    await send(TRANSACTION, transaction(it, 500));
    expect([await typesOf(it.cardId), (await rowOf(it.iauth))?.asks]).toEqual([["card.paidUnmapped"], "outside"]);
  });
});

describe("counts", () => {
  test("a denied payment that was captured counts as a payment where their number is limited", async () => {
    const it = await purchase("100", {
      limits: { perPayment: "10", total: "100", counts: [{ period: "day", timezone: "UTC", max: 1 }] },
    });
    await send(TRANSACTION, transaction(it, 2_000, { authorization: null }));
    expect(await budgetOf(it.mandateId)).toEqual([20, 0]);
    const { approved } = (await send(REQUEST, request(next(it), 500))).data;
    expect({ approved, broken: await brokenSums() }).toEqual({ approved: false, broken: [] });
  });
});

describe("a hold", () => {
  test("a reversed authorization of an API version that says reversed for expired ones too keeps its hold", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 5_000));
    await send(UPDATED, authorization(it, { amount: 5_000, status: "reversed" }), { api_version: "2024-06-20" });
    expect(await budgetOf(it.mandateId)).toEqual([0, 50]);
  });

  test("a decision that commits after Stripe has told that it declined frees its hold", async () => {
    const it = await purchase();
    const release = await lockingMandate(it.mandateId);
    expect((await send(REQUEST, request(it, 3_000))).data.metadata!["reason"]).toBe("too_late");
    const declined = { approved: false, status: "closed", amount: 3_000, request_history: [{ reason: "webhook_declined" }] };
    expect((await send(CREATED, authorization(it, declined))).status).toBe(200);
    await release();
    await expect
      .poll(async () => (await database().select().from(cardParts).where(eq(cardParts.stripeId, it.iauth))).length)
      .toBe(1);
    await expect.poll(() => budgetOf(it.mandateId), { timeout: 4_000 }).toEqual([0, 0]);
  });

  test("an authorization that is closed before its last capture is told keeps what that may take", async () => {
    const it = await purchase("100");
    await send(REQUEST, request(it, 5_000));
    const [first, last] = [transaction(it, 1_000), transaction(it, 4_000)];
    await send(TRANSACTION, first);
    await send(UPDATED, authorization(it, { amount: 5_000, status: "closed", transactions: [first] }));
    await send(REQUEST, request(next(it), 9_000));
    await send(TRANSACTION, last);
    const [spent, reserved] = await budgetOf(it.mandateId);
    expect(spent! + reserved!).toBeLessThanOrEqual(100);
  });

  test("an event without request_history does not hold twice", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 4_000));
    await send(CREATED, authorization(it, { amount: 4_000, request_history: [] }));
    expect(await budgetOf(it.mandateId)).toEqual([0, 40]);
  });

  test("after the tail of an expired authorization, a repeated event asks nobody and begins no new tail", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 5_000));
    const expired = authorization(it, { amount: 5_000, status: "expired" });
    await send(UPDATED, expired);
    const past = { tailUntil: new Date(Date.now() - 1_000) };
    await database().update(cardAuthorizations).set(past).where(eq(cardAuthorizations.stripeId, it.iauth));
    await send(UPDATED, expired);
    expect(await budgetOf(it.mandateId)).toEqual([0, 0]);
    await send(UPDATED, expired);
    expect(await rowOf(it.iauth)).toMatchObject({ tailUntil: null, asks: null });
  });
});

describe("what Stripe writes as the amount of an authorization that is over", () => {
  test("an expired one names what is left for late captures: a part that was captured is not subtracted again", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 5_000));
    const capture = transaction(it, 2_000);
    await send(UPDATED, authorization(it, { amount: 5_000, transactions: [capture] }));
    expect(await budgetOf(it.mandateId)).toEqual([20, 30]);
    await send(UPDATED, authorization(it, { amount: 3_000, status: "expired", transactions: [capture] }));
    expect(await budgetOf(it.mandateId)).toEqual([20, 30]);
  });

  test("an expired one with the amount 0, as in Stripe's example, is held during its tail", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 5_000));
    await send(CREATED, authorization(it, { amount: 5_000 }));
    await send(UPDATED, authorization(it, { amount: 0, status: "expired" }));
    expect(await budgetOf(it.mandateId)).toEqual([0, 50]);
  });

  test("a closed one with the amount 0, as in Stripe's example, is held until its transaction comes", async () => {
    const it = await purchase();
    await send(REQUEST, request(it, 5_000));
    await send(CREATED, authorization(it, { amount: 5_000 }));
    await send(UPDATED, authorization(it, { amount: 0, status: "closed" }));
    expect(await budgetOf(it.mandateId)).toEqual([0, 50]);
    await send(TRANSACTION, transaction(it, 5_000));
    expect({ budget: await budgetOf(it.mandateId), asks: (await rowOf(it.iauth))?.asks }).toEqual({
      budget: [50, 0],
      asks: null,
    });
  });
});
