import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { followUsage } from "#lib/alerts/follow-usage.ts";
import { sendAlerts } from "#lib/alerts/send-alerts.ts";
import { alerts } from "#lib/alerts/tables.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import { recordedPayments } from "#lib/holds/record-tables.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { getPayment as getOperation } from "#lib/payments/contract.ts";
import { recordPayment as operation } from "#lib/payments/executions/record-contract.ts";
import { recordPayment } from "#lib/payments/executions/record-payment.ts";
import { mandates } from "#lib/mandates/tables.ts";
import * as receipts from "#lib/payments/receipts/contract.ts";
import { getPaymentReceipt } from "#lib/payments/receipts/get-payment-receipt.ts";
import { sweepCheckouts } from "#lib/commerce/sweep-checkouts.ts";
import { askAboutOverdue, sweepHolds } from "#lib/settlement/sweep.ts";
import { outcomes, post } from "#test/asking.ts";
import { approve, reject, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, createBuyer, eventsOf, type Buyer } from "#test/mandates.ts";
import { proved } from "#test/proofs.ts";
import { createAgent, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const USD = { asset: "USD", chain: "iso4217:USD" };
const billing = (total: string, more: Record<string, unknown> = {}) => ({
  unit: "USD",
  assets: [{ ...USD, counts: "1" }],
  rails: ["record"],
  records: { payees: "any" },
  limits: { perPayment: total, total },
  ...more,
});

let buyer: Buyer;
let agent: Credential;
let keeper: Credential;
beforeAll(async () => {
  buyer = await createBuyer();
  const { organizationId } = buyer;
  const pays = ["payments:authorize", "payments:execute", "payments:read", "mandates:read"] as const;
  agent = (await createAgent(organizationId, [...pays])).credential;
  keeper = (await createAgent(organizationId, ["payments:record", "payments:read"])).credential;
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

let count = 0;
const payee = { kind: "iban", value: "DE89 3704 0044 0532 0130 00" } as const;
function invoice(mandateId: string, amount: string, change: Record<string, unknown> = {}) {
  const name = `inv-${++count}`;
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  const intent = { seller: { name: "Ink and Co" }, payee, amount, ...USD, reference: name, idempotencyKey: name, expiresAt };
  return post({ mandateId, intent: { paymentChallengeType: "record", ...intent, ...change } }, agent);
}
async function allowed(mandateId: string, amount: string, change: Record<string, unknown> = {}): Promise<string> {
  const { status, data, text } = await invoice(mandateId, amount, change);
  expect(status, text).toBe(200);
  expect(data.policyDecision.outcome, text).toBe("allow");
  return data.authorizationId;
}
const record = (as: Credential, id: string, outcome: string, amount: string, key = `rec-${++count}`) =>
  send(operation, recordPayment, { as, id, body: { idempotencyKey: key, outcome, amount, asset: "USD" } });
const mandateFor = (total: string, more?: Record<string, unknown>) =>
  activeMandate(buyer.person.credential, { policy: billing(total, more) });
const told = async (id: string) =>
  (await database().select().from(alerts).where(eq(alerts.subjectId, id))).map(({ facts }) => facts);
const budgetOf = async (mandateId: string) => {
  const [row] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
  return [Number(row!.spent) / 1e9, Number(row!.reserved) / 1e9];
};

describe("a payment that is made elsewhere", () => {
  test("is held until its deadline, recorded in parts and closed by another key, which frees the rest", async () => {
    const mandateId = await mandateFor("1000");
    const { data } = await invoice(mandateId, "100");
    const id = data.authorizationId;
    expect(new Date(data.expiresAt).getTime()).toBeGreaterThan(Date.now() + 13 * 86_400_000);
    await sweepHolds();
    expect(await budgetOf(mandateId)).toEqual([0, 100]);
    expect((await record(agent, id, "partlyPaid", "40")).data.payment).toMatchObject({ captured: "40", open: "60", paid: "40" });
    const again = await record(agent, id, "paid", "50", "same");
    expect(await record(agent, id, "paid", "50", "same")).toMatchObject({ status: 200, data: again.data });
    expect(again.data.payment).toMatchObject({ status: "open", captured: "90", open: "10" });
    expect(await budgetOf(mandateId)).toEqual([90, 10]);
    const closed = await record(keeper, id, "notPaid", "0");
    expect(closed.data.payment).toMatchObject({ status: "closed", captured: "90", released: "10", open: "0" });
    expect(await budgetOf(mandateId)).toEqual([90, 0]);
    const refund = await record(keeper, id, "refunded", "30");
    expect(refund.data.payment).toMatchObject({ refunded: "30", captured: "90" });
    expect(await budgetOf(mandateId)).toEqual([90, 0]);
    const shown = await send(getOperation, getPayment, { as: agent, id });
    expect(shown.data.records).toHaveLength(4);
    expect(shown.data.recorded).toMatchObject({ status: "closed", paid: "90", refunded: "30" });
    expect(shown.data.intent).toMatchObject({ payee: { kind: "iban", value: "…3000" }, settlementMode: "recorded" });
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(["payment.authorized", ...Array(4).fill("payment.recorded")]);
    expect((await verifyChain(buyer.organizationId)).valid).toBe(true);
    const { data: receipt } = await send(receipts.getPaymentReceipt, getPaymentReceipt, { as: agent, id });
    const claims = JSON.parse(Buffer.from(receipt.receipt.split(".")[1]!, "base64url").toString()) as Record<string, unknown>;
    const amount = { amount: "100000000000", decimals: 9, asset: "iso4217:USD/fiat:USD", unit: { amount: "100", rate: "1 USD" } };
    expect(claims).toMatchObject({ outcome: "allow", ...amount });
  });

  test("an agent that reports less than it paid cannot spend more than the limit", async () => {
    const mandateId = await mandateFor("10");
    let allowedNow = 0;
    for (let at = 0; at < 1_000; at += 1) {
      const { data } = await invoice(mandateId, "1");
      if (data.policyDecision.outcome !== "allow") continue;
      allowedNow += 1;
      expect((await record(agent, data.authorizationId, "paid", "0.01")).status).toBe(200);
    }
    expect(allowedNow).toBe(10);
    expect(await budgetOf(mandateId)).toEqual([0.1, 9.9]);
  });

  test("the agent that pays may neither close it nor say that nothing was paid", async () => {
    const id = await allowed(await mandateFor("1000"), "5");
    for (const [outcome, amount] of [
      ["notPaid", "0"],
      ["refunded", "1"],
    ] as const)
      expect(await record(agent, id, outcome, amount)).toMatchObject({ status: 403, problem: { code: "forbidden" } });
    const other = await createAgent(buyer.organizationId, ["payments:execute"]);
    expect((await record(other.credential, id, "paid", "5")).status).toBe(403);
    const foreign = await createBuyer();
    expect((await record(foreign.person.credential, id, "paid", "5")).status).toBe(404);
  });

  test("more than was held counts, asks a person, and suspends a mandate whose limit it breaks", async () => {
    const mandateId = await mandateFor("100");
    const id = await allowed(mandateId, "90");
    const { data } = await record(agent, id, "paid", "120");
    expect(data.payment).toMatchObject({ asks: "exceeded", captured: "120", open: "0" });
    expect(await budgetOf(mandateId)).toEqual([120, 0]);
    const [mandate] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
    expect(mandate?.status).toBe("suspended");
    await followUsage();
    expect(await told(id)).toEqual([{ kind: "record", authorizationId: id, asks: "exceeded" }]);
  });

  test("each question is told once, also the next one, and not what the person who closes it recorded", async () => {
    const id = await allowed(await mandateFor("1000"), "10");
    const asked = { kind: "record", authorizationId: id, asks: "exceeded" };
    await record(agent, id, "paid", "12");
    await record(agent, id, "paid", "1");
    await followUsage();
    expect(await told(id)).toEqual([asked]);
    await record(keeper, id, "notPaid", "0");
    await record(agent, id, "paid", "1");
    await followUsage();
    expect(await told(id)).toEqual([asked, asked]);
    await sendAlerts();
    await record(keeper, id, "paid", "3");
    await followUsage();
    expect(await told(id)).toEqual([asked, asked]);
  });

  test("an alert is dropped if the question was answered before it was sent", async () => {
    const id = await allowed(await mandateFor("1000"), "10");
    await record(agent, id, "paid", "12");
    await followUsage();
    await record(keeper, id, "notPaid", "0");
    await sendAlerts();
    const rows = await database().select().from(alerts).where(eq(alerts.subjectId, id));
    expect(rows.map(({ status }) => status)).toEqual(["dropped"]);
  });

  test("a person closes it with the step-up that the freed amount needs", async () => {
    const mandateId = await mandateFor("1000");
    const id = await allowed(mandateId, "900");
    const as = buyer.person.credential;
    const closing = () => record(as, id, "notPaid", "0");
    expect(await closing()).toMatchObject({ status: 428, problem: { code: "step_up_required" } });
    expect((await proved(as, closing)).data.payment).toMatchObject({ status: "closed", released: "900" });
    expect(await budgetOf(mandateId)).toEqual([0, 0]);
  });

  test("what it frees can go to payees that nobody has verified, so a person proves it above 25 units", async () => {
    const person = await createPerson(buyer.organizationId);
    const mandateId = await mandateFor("1000");
    const [small, large] = [await allowed(mandateId, "25"), await allowed(mandateId, "0.01")];
    expect((await record(person.credential, small, "notPaid", "0")).status).toBe(200);
    const refused = await record(person.credential, large, "notPaid", "0");
    expect(refused).toMatchObject({ status: 428, problem: { code: "step_up_required" } });
  });

  test("its deadline passes: a person is asked once, and nothing is freed", async () => {
    const mandateId = await mandateFor("1000", { records: { payees: "any", deadline: "PT1M" } });
    const id = await allowed(mandateId, "5");
    await database().execute(
      sql`UPDATE recorded_payments SET deadline = deadline - interval '1 hour' WHERE authorization_id = ${id}`,
    );
    await database().execute(
      sql`UPDATE changed_reservations SET expires_at = expires_at - interval '1 hour' WHERE authorization_id = ${id}`,
    );
    expect(await askAboutOverdue()).toBe(1);
    expect(await askAboutOverdue()).toBe(0);
    await sweepHolds();
    expect(await budgetOf(mandateId)).toEqual([0, 5]);
    const [row] = await database().select().from(recordedPayments).where(eq(recordedPayments.authorizationId, id));
    expect(row?.asks).toBe("overdue");
    await followUsage();
    expect(await told(id)).toEqual([{ kind: "record", authorizationId: id, asks: "overdue" }]);
  });
});

describe("a payment about which a person is asked", () => {
  test("is held until its deadline once the person approves, and nothing is recorded before", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    const { data } = await invoice(mandateId, "20");
    const id = data.authorizationId;
    const reason = data.policyDecision.reasons.find(({ effect }) => effect === "approval");
    expect(data.policyDecision.outcome).toBe("requireApproval");
    expect(reason).toMatchObject({ code: "approval_required", next: { path: `/api/v1/payments/${id}/record` } });
    expect(await record(agent, id, "paid", "20")).toMatchObject({ problem: { code: "approval_required" } });
    const as = buyer.person.credential;
    const checkoutIntentId = reason!.checkoutIntentId!;
    await view(checkoutIntentId, as);
    // The people of createPerson have no password.
    await database().execute(sql`
      INSERT INTO step_ups (step_up_id, session_id, user_id, checkout_intent_id, method, basket_hash, amount, pay_to, expires_at)
      SELECT 'stu_test', r.session_id, s.user_id, k.checkout_intent_id, 'password', k.basket_hash, k.amount, k.pay_to, now() + interval '1 hour'
      FROM checkout_intents k JOIN checkout_reviews r USING (checkout_intent_id) JOIN session s ON s.id = r.session_id
      WHERE k.checkout_intent_id = ${checkoutIntentId}`);
    const approved = await approve(checkoutIntentId, as);
    expect(approved.status, JSON.stringify(approved.problem)).toBe(200);
    await database().execute(
      sql`UPDATE checkout_approvals SET expires_at = expires_at - interval '1 day' WHERE authorization_id = ${id}`,
    );
    await sweepCheckouts();
    await sweepHolds();
    expect(await budgetOf(mandateId)).toEqual([0, 20]);
    expect((await record(agent, id, "paid", "20")).data.payment).toMatchObject({ captured: "20", open: "0" });
    const shown = await send(getOperation, getPayment, { as: agent, id });
    expect(shown.data).toMatchObject({ approval: { status: "consumed" }, checkout: { status: "authorized" } });
  });

  test("frees its reference and the budget if the person declines", async () => {
    const mandateId = await mandateFor("1000", { records: { payees: [{ kind: "iban", value: "DE02120300000000202051" }] } });
    const { data } = await invoice(mandateId, "20", { reference: "declined" });
    const reason = data.policyDecision.reasons.find(({ effect }) => effect === "approval");
    expect((await reject(reason!.checkoutIntentId!, buyer.person.credential)).status).toBe(200);
    expect(await budgetOf(mandateId)).toEqual([0, 0]);
    const listed = { kind: "iban", value: "de02 1203 0000 0000 2020 51" };
    await allowed(mandateId, "20", { reference: "declined", payee: listed });
    await allowed(await mandateFor("1000"), "20", { reference: "Declined" });
  });
});

describe("a reference", () => {
  test("is paid once, however it is spelled and however many ask at once, under any mandate", async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => mandateFor("1000")));
    const spellings = ["RE 2026/117", "re-2026-117", "RE2026117", "Re. 2026 117"];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, at) => invoice(ids[at % 4]!, "5", { reference: spellings[at % 3] })),
    );
    expect(outcomes(answers)).toEqual({ allow: 1, deny: 23 });
    const held = await Promise.all(ids.map(budgetOf));
    expect(held.reduce((sum, [, reserved]) => sum + reserved!, 0)).toBe(5);
    const denied = answers.find(({ data }) => data.policyDecision.outcome === "deny")!;
    expect(denied.data.policyDecision).toMatchObject({ denialCode: "nonce_reused" });
    const other = { kind: "iban", value: "DE02 1203 0000 0000 2020 51" };
    expect(outcomes([await invoice(ids[0]!, "5", { reference: spellings[0], payee: other })])).toEqual({ allow: 1 });
  });

  test("is free again after nothing was paid, and not before", async () => {
    const mandateId = await mandateFor("1000");
    const again = { reference: "once more" };
    const id = await allowed(mandateId, "5", again);
    expect(outcomes([await invoice(mandateId, "5", again)])).toEqual({ deny: 1 });
    await record(keeper, id, "notPaid", "0");
    const next = await allowed(mandateId, "5", again);
    expect(outcomes([await invoice(mandateId, "5", again)])).toEqual({ deny: 1 });
    // The agent says late that it had paid the first one: that counts too.
    expect((await record(agent, id, "paid", "5")).data.payment).toMatchObject({ asks: "exceeded", captured: "5", released: "0" });
    await record(agent, next, "paid", "5");
    expect(await budgetOf(mandateId)).toEqual([10, 0]);
  });
});
