import { afterEach, describe, expect, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import { selectOverdueHolds } from "#lib/holds/sweep-store.ts";
import type { AskerReader } from "#lib/identity/asker.ts";
import * as contract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { getPayment as getOperation } from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { post } from "#test/asking.ts";
import { callerOf } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { proved } from "#test/proofs.ts";
import { billing, budgetOf, EUR, record, USD, useRecording } from "#test/recording.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const { at, invoice, allowed, mandateFor } = useRecording();
afterEach(async () => expect(await brokenSums()).toEqual([]));

describe("a payee", () => {
  test("no payee and a seller whose id is a dash share references", async () => {
    const mandateId = await mandateFor("1000");
    await allowed(mandateId, "5", { reference: "dash", seller: { sellerId: "-" }, payee: undefined });
    const { status, text } = await invoice(mandateId, "5", { reference: "dash", payee: undefined });
    expect(status, text).toBe(200);
  });

  test("an account is shown by whole characters", async () => {
    const mandateId = await mandateFor("1000");
    const id = await allowed(mandateId, "5", { payee: { kind: "account", value: "aaaaa😀bbb" } });
    const mail = await allowed(mandateId, "5", { payee: { kind: "email", value: "😀@example.com" } });
    await viewPayments((await callerOf(at.buyer.person.credential)) as AskerReader, {}, { limit: 50 });
    for (const one of [id, mail]) {
      const shown = await send(getOperation, getPayment, { as: at.agent, id: one });
      expect(shown.data.intent.payee!.value.isWellFormed()).toBe(true);
    }
  });
});

describe("amounts", () => {
  test("a part is refused that no column holds", async () => {
    const mandateId = await mandateFor("1000", {
      assets: [
        { ...USD, counts: "1" },
        { ...EUR, counts: "1000000000" },
      ],
      limits: { perPayment: "1000000000000", total: "1000000000000" },
    });
    const id = await allowed(mandateId, "5", EUR);
    const reply = await record(at.agent, id, "paid", `1${"0".repeat(67)}`, "EUR");
    expect(reply.status, JSON.stringify(reply.problem)).toBeLessThan(500);
  });
  test("an amount is refused that no column holds in the unit", async () => {
    const mandateId = await mandateFor("1000", {
      assets: [
        { ...USD, counts: "1" },
        { ...EUR, counts: "1000000000" },
      ],
    });
    const reply = await invoice(mandateId, `1${"0".repeat(67)}`, EUR);
    expect(reply.status, reply.text).toBeLessThan(500);
  });
  test("an amount of a token is refused that no column holds in the unit", async () => {
    const mandateId = await mandateFor("1000", {
      rails: ["x402"],
      records: undefined,
      assets: [{ asset: "USDC", chain: "eip155:84532", counts: "1" }],
    });
    const { sellerId, resourceId } = at.buyer.resource;
    const reply = await post(
      {
        mandateId,
        intent: {
          seller: { sellerId },
          resource: { resourceId },
          amount: `1${"0".repeat(70)}`,
          asset: "USDC",
          expiresAt: new Date(Date.now() + 60_000).toISOString(),
          idempotencyKey: "huge",
        },
      },
      at.agent,
    );
    expect(reply.status, reply.text).toBeLessThan(500);
  });

  test("any split ends at the same sum", async () => {
    const mandateId = await mandateFor("1000", {
      assets: [
        { ...USD, counts: "1" },
        { ...EUR, counts: "1.123456789" },
      ],
    });
    const sums: unknown[] = [];
    for (const split of [
      ["10"],
      ["0.000000001", "9.999999999"],
      ["3.333333333", "3.333333333", "3.333333334"],
      ["0.1", "0.7", "9.2"],
    ]) {
      const id = await allowed(mandateId, "10", EUR);
      for (const part of split) expect((await record(at.agent, id, "partlyPaid", part, "EUR")).status).toBe(200);
      const { payment } = (await record(at.keeper, id, "notPaid", "0", "EUR")).data;
      sums.push([payment.captured, payment.released, payment.open]);
    }
    expect(new Set(sums.map((one) => JSON.stringify(one))).size, JSON.stringify(sums)).toBe(1);
  });
});

describe("what is held", () => {
  test("a new window counts it, in parts and after its end", async () => {
    const mandateId = await mandateFor("1000");
    const [a, b, c] = [await allowed(mandateId, "10"), await allowed(mandateId, "10"), await allowed(mandateId, "10")];
    await record(at.agent, a, "partlyPaid", "4");
    await record(at.keeper, b, "paid", "3");
    const as = at.buyer.person.credential;
    const budgets = [{ period: "day", timezone: "UTC", amount: "500" }];
    const updated = await send(contract.updateMandate, updateMandate, {
      as,
      id: mandateId,
      body: { policy: billing("1000", { limits: { perPayment: "1000", total: "1000", budgets } }) },
    });
    expect(updated.status, JSON.stringify(updated.problem)).toBe(200);
    expect(await brokenSums()).toEqual([]);
    await record(at.agent, a, "partlyPaid", "9");
    await record(at.agent, b, "paid", "9");
    await record(at.keeper, c, "notPaid", "0");
    await record(at.agent, c, "paid", "1");
    expect(await brokenSums()).toEqual([]);
  });

  test("a revocation keeps it, and parts are accepted", async () => {
    const mandateId = await mandateFor("1000");
    const id = await allowed(mandateId, "10");
    const as = at.buyer.person.credential;
    const revoked = await proved(as, () =>
      send(contract.revokeMandate, revokeMandate, { as, id: mandateId, body: { reason: "x" } }),
    );
    expect(revoked.status, JSON.stringify(revoked.problem)).toBe(200);
    await sweepHolds();
    expect(await budgetOf(mandateId)).toEqual([0, 10]);
    expect((await record(at.agent, id, "paid", "10")).status).toBe(200);
    expect(await budgetOf(mandateId)).toEqual([10, 0]);
  });

  test("it does not make its mandate suspect of overdue holds", async () => {
    const mandateId = await mandateFor("1000");
    await allowed(mandateId, "10");
    const { sql: text, params } = selectOverdueHolds(database()).toSQL();
    const [plan] = await pool().unsafe(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, params as string[]);
    const loops: unknown[] = [];
    JSON.stringify(plan, (_, node: Record<string, unknown> | null) => {
      if (node?.["Relation Name"] === "authorizations") loops.push(node["Actual Loops"]);
      return node;
    });
    expect(loops.toSorted()).toEqual([0, 1]);
  });
});
