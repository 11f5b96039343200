import { afterEach, describe, expect, test } from "vitest";
import { canonicalJson } from "#lib/canonical-json.ts";
import { fingerprintOf } from "#lib/command/idempotency.ts";
import { sqlState } from "#lib/db/failure.ts";
import { database, pool } from "#lib/db/client.ts";
import { insertRecorded } from "#lib/holds/record-store.ts";
import { mandatesWithDueHolds, selectOverdueHolds } from "#lib/holds/sweep-store.ts";
import type { AskerReader } from "#lib/identity/asker.ts";
import { newId } from "#lib/ids.ts";
import * as contract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { getPayment as getOperation } from "#lib/payments/contract.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { post, storedOf } from "#test/asking.ts";
import { callerOf } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { proved } from "#test/proofs.ts";
import { billing, budgetOf, EUR, invoiceOf, record, USD, useRecording } from "#test/recording.ts";
import { send } from "#test/tenant.ts";

const databaseOf = useDatabase();
const { at, invoice, allowed, mandateFor } = useRecording();
afterEach(async () => expect(await brokenSums()).toEqual([]));

describe("a payee", () => {
  test("no payee and a seller whose id is a dash share references", async () => {
    const mandateId = await mandateFor("1000");
    await allowed(mandateId, "5", { reference: "dash", seller: { sellerId: "-" }, payee: undefined });
    const { status, text } = await invoice(mandateId, "5", { reference: "dash", payee: undefined });
    expect(status, text).toBe(200);
  });

  test("an account is one account in every spelling, so a reference of it is paid once", async () => {
    const mandateId = await mandateFor("1000");
    await allowed(mandateId, "5", { reference: "spelled" });
    const spellings = [
      { kind: "iban", value: "de89\u200b3704 0044 0532 0130 00" },
      { kind: "iban", value: "DE89/3704\u20100044_0532013000" },
      { kind: "account", value: "DE89 3704-0044.0532013000" },
    ];
    for (const payee of spellings)
      expect((await invoice(mandateId, "5", { reference: "spelled", payee })).data.policyDecision.outcome).toBe("deny");
    const listed = { records: { payees: [{ kind: "account", value: "user_1" }] } };
    const { data } = await invoice(await mandateFor("1000", listed), "5", { payee: { kind: "account", value: "user1" } });
    expect(data.policyDecision.outcome).toBe("requireApproval");
  });

  test("batches take references in one order, so that two of them do not wait for each other", async () => {
    const begin = () => hold(databaseOf().url, "SELECT 1");
    const [between, first, second] = [await begin(), await begin(), await begin()];
    const insert = async ({ sql }: typeof first, ...references: readonly string[]) => {
      const times = { deadline: new Date(), createdAt: new Date() };
      const rows = references.map((referenceKey) => {
        const ids = {
          authorizationId: newId("authorization"),
          organizationId: "org_1",
          environment: "sandbox",
          mandateId: "mdt_1",
        };
        return { row: { ...ids, ...times, payeeKey: "payee", referenceKey }, frees: null };
      });
      await Promise.all(insertRecorded(sql, rows));
    };
    const waiting = async () => (await pool()`SELECT FROM pg_locks WHERE NOT granted`).length;
    await insert(between, "B");
    const one = insert(first, "A", "B", "C").then(() => first.sql.unsafe("COMMIT"));
    await expect.poll(waiting).toBe(1);
    const two = insert(second, "C", "B", "A").catch(sqlState);
    await expect.poll(waiting).toBe(2);
    await between.release();
    await one;
    expect(await two).toBe("23505");
  });

  test("an account is stored nowhere, nor anything that tells it", async () => {
    const mandateId = await mandateFor("1000");
    const intent = invoiceOf("20");
    const { data } = await post({ mandateId, intent }, at.agent);
    await record(at.keeper, data.authorizationId, "paid", "20");
    await invoice(await mandateFor("1000", { records: undefined }), "20");
    const tables = await pool()`SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`;
    for (const { table_name: name } of tables)
      expect(await pool().unsafe(`SELECT t::text FROM "${name}" t WHERE t::text ~* '0532 ?0130'`), String(name)).toEqual([]);
    const { expiresAt: _, ...asked } = intent;
    const guess = fingerprintOf(canonicalJson({ path: {}, body: { mandateId, intent: asked } }));
    expect((await storedOf(data.authorizationId))!.fingerprint).not.toBe(guess);
    expect(await post({ mandateId, intent }, at.agent)).toMatchObject({ status: 200, replayed: true });
    const other = { ...intent, payee: { kind: "iban", value: "DE02120300000000202051" } };
    expect(await post({ mandateId, intent: other }, at.agent)).toMatchObject({ problem: { code: "idempotency_key_reused" } });
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

  test("a payment is found by its amount, and its fee quote names its kind", async () => {
    const id = await allowed(await mandateFor("1000"), "7.654321");
    const caller = (await callerOf(at.buyer.person.credential)) as AskerReader;
    const { items } = await viewPayments(caller, { search: { kind: "amount", amount: "7.654321" } }, { limit: 50 });
    expect(items.map(({ authorizationId }) => authorizationId)).toEqual([id]);
    const shown = await send(getOperation, getPayment, { as: at.agent, id });
    const named = { paymentProtocol: "record", paymentChallengeType: "record" };
    expect(shown.data.intent).toMatchObject({ ...named, feeQuote: named });
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

  test("a revocation keeps it, no sweep reads it again, and parts are accepted", async () => {
    const mandateId = await mandateFor("1000");
    const id = await allowed(mandateId, "10");
    const as = at.buyer.person.credential;
    const revoked = await proved(as, () =>
      send(contract.revokeMandate, revokeMandate, { as, id: mandateId, body: { reason: "x" } }),
    );
    expect(revoked.status, JSON.stringify(revoked.problem)).toBe(200);
    await sweepHolds();
    expect(await budgetOf(mandateId)).toEqual([0, 10]);
    expect(await mandatesWithDueHolds(database(), { since: new Date(0), until: null }, "", 100)).not.toContain(mandateId);
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
