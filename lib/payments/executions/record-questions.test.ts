import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { recordedPayments } from "#lib/holds/record-tables.ts";
import { reservations } from "#lib/holds/tables.ts";
import * as contract from "#lib/mandates/contract.ts";
import { simulateMandate } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import { getPayment as getOperation } from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import * as receipts from "#lib/payments/receipts/contract.ts";
import { getApprovalReceipt } from "#lib/payments/receipts/get-approval-receipt.ts";
import { askAboutOverdue } from "#lib/settlement/sweep.ts";
import { approve, cancel, extend, reject, takeBack, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { billing, budgetOf, invoiceOf, record, useRecording } from "#test/recording.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const { at, invoice, allowed, mandateFor, approved } = useRecording();
afterEach(async () => expect(await brokenSums()).toEqual([]));

const recordedRow = async (id: string) =>
  (await database().select().from(recordedPayments).where(eq(recordedPayments.authorizationId, id)))[0]!;
const past = (id: string) =>
  database().execute(sql`UPDATE recorded_payments SET deadline = deadline - interval '1 year' WHERE authorization_id = ${id}`);
const checkoutOf = (data: Authorization) =>
  data.policyDecision.reasons.find(({ effect }) => effect === "approval")!.checkoutIntentId!;

describe("a person", () => {
  test("is asked about no payment that was declined", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    const { data } = await invoice(mandateId, "20");
    expect((await reject(checkoutOf(data), at.buyer.person.credential)).status).toBe(200);
    await past(data.authorizationId);
    await askAboutOverdue();
    expect((await recordedRow(data.authorizationId)).asks).toBeNull();
    expect(await record(at.agent, data.authorizationId, "paid", "20")).toMatchObject({ problem: { code: "conflict" } });
  });

  test("is asked about no payment that waits, whose deadline begins with the approval", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    const { data } = await invoice(mandateId, "20");
    await past(data.authorizationId);
    await askAboutOverdue();
    expect((await recordedRow(data.authorizationId)).asks).toBeNull();
    expect((await approved(checkoutOf(data))).status).toBe(200);
    expect((await recordedRow(data.authorizationId)).deadline.getTime()).toBeGreaterThan(Date.now() + 13 * 86_400_000);
    const [hold] = await database().select().from(reservations).where(eq(reservations.authorizationId, data.authorizationId));
    expect((await recordedRow(data.authorizationId)).deadline).toEqual(hold!.expiresAt);
  });

  test("answers the question about a payment that had been closed", async () => {
    const id = await allowed(await mandateFor("1000"), "10");
    await record(at.keeper, id, "paid", "5");
    expect((await record(at.agent, id, "paid", "7")).data.payment).toMatchObject({
      status: "closed",
      asks: "exceeded",
      captured: "12",
    });
    const answered = await record(at.keeper, id, "notPaid", "0");
    expect(answered.status, JSON.stringify(answered.problem)).toBe(200);
    expect(answered.data.payment.asks).toBeUndefined();
  });

  test("is asked one question at a time, and answers it by closing", async () => {
    const id = await allowed(await mandateFor("1000"), "10");
    expect((await record(at.agent, id, "paid", "12")).data.payment).toMatchObject({ status: "open", asks: "exceeded" });
    await past(id);
    await askAboutOverdue();
    expect((await recordedRow(id)).asks).toBe("exceeded");
    const closed = await record(at.keeper, id, "notPaid", "0");
    expect(closed.data.payment, JSON.stringify(closed.problem)).toMatchObject({
      status: "closed",
      captured: "12",
      released: "0",
    });
  });
});

describe("a person who decides", () => {
  test("may still approve under a changed policy that admits it", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    const { data } = await invoice(mandateId, "20");
    const as = at.buyer.person.credential;
    const updated = await send(contract.updateMandate, updateMandate, {
      as,
      id: mandateId,
      body: { policy: billing("900", { records: undefined }), cancelOpen: true },
    });
    expect(updated.status, JSON.stringify(updated.problem)).toBe(200);
    expect(updated.data.openRefused).toBeUndefined();
    expect((await approved(checkoutOf(data))).status).toBe(200);
  });

  test("sees the checkout end when the payment is closed: completed, or failed if nothing was paid", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    for (const [paid, status] of [
      ["15", "completed"],
      ["0", "failed"],
    ] as const) {
      const { data } = await invoice(mandateId, "20");
      await approved(checkoutOf(data));
      if (paid !== "0") await record(at.agent, data.authorizationId, "paid", paid);
      expect((await view(checkoutOf(data), at.buyer.person.credential)).intent.status).toBe("authorized");
      const closed = await record(at.keeper, data.authorizationId, "notPaid", "0");
      expect(closed.status, JSON.stringify(closed.problem)).toBe(200);
      expect((await view(checkoutOf(data), at.buyer.person.credential)).intent.status).toBe(status);
    }
  });

  test("sees in a simulation of a policy that it admits past records", async () => {
    const mandateId = await mandateFor("1000");
    await allowed(mandateId, "20");
    const simulated = await send(contract.simulateMandate, simulateMandate, {
      as: at.buyer.person.credential,
      id: mandateId,
      body: { policy: billing("1000"), last: 10 },
    });
    expect(simulated.data, JSON.stringify(simulated.problem)).toMatchObject({ items: [{ was: "allow", wouldBe: "allow" }] });
  });

  test("sees in a simulation that a reference was used", async () => {
    const mandateId = await mandateFor("1000");
    await allowed(mandateId, "20", { reference: "sim 1" });
    const { idempotencyKey: _, ...intent } = invoiceOf("20", { reference: "SIM-1" });
    const simulated = await send(contract.simulateMandate, simulateMandate, {
      as: at.agent,
      id: mandateId,
      body: { intent },
    });
    expect(simulated.data, JSON.stringify(simulated.problem)).toMatchObject({ decision: { outcome: "deny" } });
  });

  test("sees to which account the money goes, and is asked again about another account", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    const first = await invoice(mandateId, "20", { reference: "117" });
    const seen = await view(checkoutOf(first.data), at.buyer.person.credential);
    expect(seen.lines).toMatchObject([{ name: "117 to iban …3000" }]);
    expect(seen.payee).toMatchObject({ domain: "Ink and Co" });
    expect(seen.payee.unicodeDomain).toBeUndefined();
    const payee = { kind: "iban", value: "DE02120300000000202051" };
    const other = await invoice(mandateId, "20", { reference: "117", payee });
    expect(checkoutOf(other.data)).not.toBe(checkoutOf(first.data));
  });

  test("approves a payment without a name, or with an odd one", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    for (const seller of [{ name: "" }, { name: "a\u0001b" }, { sellerId: "nobody" }, { name: "x", domain: "a b c" }]) {
      const { data, text, status } = await invoice(mandateId, "20", { seller });
      expect(status, text).toBe(200);
      expect(data.policyDecision.outcome, text).toBe("requireApproval");
      const reply = await approved(checkoutOf(data));
      expect(reply.status, JSON.stringify(reply.problem)).toBe(200);
    }
  });

  test("approves once, and takes nothing back", async () => {
    const mandateId = await mandateFor("1000", { records: undefined });
    const { data } = await invoice(mandateId, "20");
    const id = checkoutOf(data);
    const as = at.buyer.person.credential;
    expect((await approved(id)).status).toBe(200);
    const seen = {
      take: (await takeBack(id, as)).problem.code,
      cancel: (await cancel(id, at.agent)).problem.code,
      extend: (await extend(id, as)).problem.code,
      twice: (await approve(id, as)).problem.code,
    };
    expect(seen).toEqual({
      take: "authorization_consumed",
      cancel: "approval_already_decided",
      extend: "approval_already_decided",
      twice: "approval_already_decided",
    });
    expect(await budgetOf(mandateId)).toEqual([0, 20]);
    const shown = await send(getOperation, getPayment, { as: at.agent, id: data.authorizationId });
    expect(shown.status).toBe(200);
    const receipt = await send(receipts.getApprovalReceipt, getApprovalReceipt, {
      as: at.agent,
      id: shown.data.approval!.approvalId,
    });
    expect(receipt.status, JSON.stringify(receipt.problem)).toBe(200);
  });
});
