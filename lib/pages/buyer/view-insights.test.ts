import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import { selectRefusals } from "#lib/pages/buyer/spending/insight-store.ts";
import { viewBurnDown } from "#lib/pages/buyer/view-burn-down.ts";
import { viewInsights } from "#lib/pages/buyer/view-insights.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import { authorizePayment as authorizeOperation } from "#lib/payments/contract.ts";
import { send } from "#test/tenant.ts";
import { useDatabase } from "#test/database.ts";
import { seedPayments } from "#test/many-payments.ts";
import { activeMandate, authorize, createBuyer, intentFor, policy, type Buyer } from "#test/mandates.ts";
import { planOf } from "#test/plan.ts";
import { newId as cardId, request, transaction, useCards } from "#test/cards.ts";
import { record, useRecording } from "#test/recording.ts";

useDatabase();
const recording = useRecording();
const cards = useCards();

const DAY_MS = 86_400_000;
const scopeOf = ({ organizationId }: Buyer) => ({ organizationId, environment: "sandbox" });

/** Inserts a ledger entry for a settled payment, dated some days ago. */
async function capture({ organizationId }: Buyer, mandateId: string, authorizationId: string, amount: number, daysAgo = 0) {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  await database().execute(sql`
    INSERT INTO resolutions (ledger_id, organization_id, mandate_id, authorization_id, kind, amount, created_at)
    VALUES (${firstIdAt("ledger", at).slice(0, -8) + newId("ledger").slice(-8)}, ${organizationId}, ${mandateId}, ${authorizationId},
      'capture', ${amount}, ${at.toISOString()})`);
}

test("sums the payments by agent, seller and mandate, the largest first, and counts refusals by rule", async () => {
  const buyer = await createBuyer();
  const [first, second] = [await activeMandate(buyer.person.credential), await activeMandate(buyer.person.credential)];
  const one = await authorize(buyer, first, "0.5");
  const two = await authorize(buyer, second, "0.5");
  await capture(buyer, first, one.authorizationId, 500_000);
  await capture(buyer, second, two.authorizationId, 900_000, 20);
  const small = { policy: { ...policy, limits: { ...policy.limits, perPayment: "0.4" } } };
  const third = await activeMandate(buyer.person.credential, small);
  await authorize(buyer, third);
  await authorize(buyer, third);
  await authorize(buyer, first, "99");
  const { coins, refusals } = await viewInsights(scopeOf(buyer), 30);
  expect(coins).toHaveLength(1);
  expect(coins[0]!.agents).toEqual([{ key: buyer.agent.serviceAccountId, name: "Agent", amount: "1.4" }]);
  expect(coins[0]!.mandates.map(({ href, amount }) => [href, amount])).toEqual([
    [`/mandates/${second}`, "0.9"],
    [`/mandates/${first}`, "0.5"],
  ]);
  expect(coins[0]!.sellers).toHaveLength(1);
  expect(coins[0]!.sellers[0]).toMatchObject({ amount: "1.4" });
  expect(coins[0]!.rails).toEqual([{ key: "x402", name: "x402", amount: "1.4" }]);
  expect(coins[0]!.days).toHaveLength(30);
  expect(coins[0]!.days.at(-21)?.total).toBe("0.9");
  expect(refusals).toMatchObject([
    { code: "per_payment_limit_exceeded", rule: "Payment limit exceeded", payments: 2 },
    { code: "challenge_mismatch", rule: "Challenge mismatch", payments: 1 },
  ]);
  const week = await viewInsights(scopeOf(buyer), 7);
  expect(week.coins[0]!.agents).toEqual([{ key: buyer.agent.serviceAccountId, name: "Agent", amount: "0.5" }]);
  expect((await viewInsights(scopeOf(await createBuyer()), 30)).refusals).toEqual([]);
});

test("sums what was paid elsewhere as a rail of its own", async () => {
  const { at, mandateFor, allowed } = recording;
  const [mandateId, { authorizationId }] = [
    await mandateFor("100"),
    await authorize(at.buyer, await activeMandate(at.buyer.person.credential)),
  ];
  await record(at.agent, await allowed(mandateId, "50"), "partlyPaid", "20");
  await capture(at.buyer, mandateId, authorizationId, 5_000_000_000);
  const { coins } = await viewInsights(scopeOf(at.buyer), 30);
  expect(coins.find(({ asset }) => asset === "USD")?.rails).toEqual([
    { key: "record", name: "Made elsewhere", amount: "20" },
    { key: "x402", name: "x402", amount: "5" },
  ]);
});

test("sums what was paid by card as a rail of its own", async () => {
  const mandateId = await cards.mandateFor("100");
  const it = { cardId: await cards.map(mandateId), iauth: cardId("iauth") };
  await cards.send("issuing_authorization.request", request(it, 5_000));
  await cards.send("issuing_transaction.created", transaction(it, 6_000));
  const { coins } = await viewInsights(scopeOf(cards.at.buyer), 30);
  expect(coins).toMatchObject([
    { sellers: [{ name: "Ink and Co", amount: "60" }], rails: [{ key: "card", name: "By card", amount: "60" }] },
  ]);
});

test("the mandates after the eight largest share one bar, and a payment without its authorization has an unknown payee", async () => {
  const buyer = await createBuyer();
  for (let count = 1; count <= 10; count += 1)
    await capture(buyer, await activeMandate(buyer.person.credential), newId("authorization"), count * 1_000_000);
  const [coin] = (await viewInsights(scopeOf(buyer), 30)).coins;
  expect(coin!.mandates.map(({ amount }) => amount)).toEqual(["10", "9", "8", "7", "6", "5", "4", "3", "3"]);
  expect(coin!.mandates.at(-1)?.name).toBe("2 more");
  expect(coin!.sellers).toEqual([{ key: "", name: "Unknown seller", amount: "55" }]);
  expect(coin!.agents).toEqual([{ key: "", name: "Unknown", amount: "55" }]);
});

test("a seller that is called rest has a bar of its own", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  for (let count = 1; count <= 10; count += 1) {
    const seller = { name: count === 10 ? "rest" : `Shop ${count}` };
    const intent = { ...intentFor(buyer, "0.5"), seller, idempotencyKey: `rest-${count}` };
    const { data } = await send(authorizeOperation, authorizePayment, {
      as: buyer.agent.credential,
      body: { mandateId, intent },
    });
    await capture(buyer, mandateId, data.authorizationId, count * 1_000_000);
  }
  const { sellers } = (await viewInsights(scopeOf(buyer), 30)).coins[0]!;
  expect([sellers[0]?.name, sellers.at(-1)?.name, sellers.length]).toEqual(["rest", "2 more", 9]);
  expect(new Set(sellers.map(({ key }) => key)).size).toBe(9);
});

test("refusals are found by their index", async () => {
  const buyer = await createBuyer();
  await seedPayments(buyer.organizationId, 20_000);
  const since = new Date(Date.now() - DAY_MS);
  const { whole, indexes } = await planOf(selectRefusals(database(), scopeOf(buyer), since), ["authorizations"]);
  expect(whole).toEqual([]);
  expect(indexes).toContain("authorizations_not_allowed");
});

test("a mandate's burn-down begins with the mandate and ends with the amount left now; a mandate without a budget that resets has none", async () => {
  const buyer = await createBuyer();
  const budgets = [{ period: "month" as const, timezone: "UTC", amount: "5" }];
  const mandateId = await activeMandate(buyer.person.credential, {
    policy: { ...policy, limits: { perPayment: "1", budgets } },
  });
  await authorize(buyer, mandateId, "0.5");
  await authorize(buyer, mandateId, "0.5");
  const { mandate } = await viewMandate(scopeOf(buyer), mandateId);
  const view = await viewBurnDown(mandate);
  const amounts = ({ steps }: NonNullable<typeof view>) => steps.flatMap(({ left }) => (left === null ? [] : [left]));
  expect(amounts(view!)).toEqual(["4"]);
  const older = await viewBurnDown({ ...mandate, createdAt: "2026-01-01T00:00:00.000Z" });
  expect(amounts(older!)).toHaveLength(new Date().getUTCDate());
  expect(amounts(older!).at(-1)).toBe("4");
  expect(view!.steps.length).toBeGreaterThanOrEqual(28);
  const total = await activeMandate(buyer.person.credential, { policy: { ...policy, limits: { perPayment: "1", total: "5" } } });
  expect(await viewBurnDown((await viewMandate(scopeOf(buyer), total)).mandate)).toBeNull();
});
