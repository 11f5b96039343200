import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { route } from "#lib/api/route.ts";
import { env } from "#lib/env.ts";
import { reservationIdOf } from "#lib/holds/ids.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import { authorizePayments as handler } from "#lib/payments/authorize-payments.ts";
import { authorizePayments as operation, type AuthorizeResult } from "#lib/payments/contract.ts";
import { forget } from "#lib/process.ts";
import { ask, authorizationsOf, holdsOf, newIntent, post } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { createAgent, type Credential } from "#test/tenant.ts";
import type { z } from "zod";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const newMandate = (limits: Record<string, unknown> = { perPayment: "1", total: "1000" }) =>
  activeMandate(buyer.person.credential, { policy: { ...policy, limits } });

type Result = z.infer<typeof AuthorizeResult>;
const served = route(operation, handler);

async function postAll(payments: unknown, headers: Credential = buyer.agent.credential) {
  const response = await served(
    new Request(`${env().BASE_URL}${operation.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ payments }),
    }),
  );
  const text = await response.text();
  const json = JSON.parse(text) as { readonly items: readonly Result[]; readonly code?: string; readonly errors?: unknown };
  if (response.status === 200) operation.response.parse(json);
  return { status: response.status, headers: response.headers, text, json, items: json.items };
}

const wordOf = ({ authorization, problem }: Result) => authorization?.policyDecision.outcome ?? problem?.code;

describe("authorizePayments", () => {
  test("answers each payment in order; a denial or a problem does not affect other payments", async () => {
    const [own, foreign] = [await newMandate(), await createBuyer()];
    const other = await activeMandate(foreign.person.credential);
    const intent = newIntent(buyer);
    const { status, text, items } = await postAll([
      { mandateId: own, intent },
      { mandateId: own, intent: newIntent(buyer, { amount: "0.4" }) },
      { mandateId: other, intent: newIntent(buyer) },
      { mandateId: own, intent: { ...newIntent(buyer), amount: "1e3", note: 1 } },
      "no payment",
      { mandateId: own, intent: { ...newIntent(buyer), idempotencyKey: undefined } },
      { mandateId: own, intent: newIntent(buyer, { metadata: { long: "x".repeat(65_536) } }) },
      { mandateId: await newMandate(), intent: newIntent(buyer) },
    ]);
    expect([status, items.map(wordOf)]).toEqual([
      200,
      ["allow", "deny", "not_found", "invalid_request", "invalid_request", "idempotency_key_required", "body_too_large", "allow"],
    ]);
    expect(items.map((one) => one.status)).toEqual([200, 200, 404, 400, 400, 400, 413, 200]);
    expect(items[3]?.problem?.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(["/intent/amount", "/intent/note"]);
    expect((await authorizationsOf(own)).map(({ outcome }) => outcome).toSorted()).toEqual(["allow", "deny"]);
    const [hold] = await holdsOf(own);
    expect(reservationIdOf(hold!)).toBe(items[0]?.authorization?.policyDecision.reservationId);
    const alone = await post({ mandateId: own, intent }, buyer.agent.credential);
    expect([alone.replayed, text.includes(alone.text)]).toEqual([true, true]);
  });

  test("refuses a call with a wrong list, header or credential, and stores nothing", async () => {
    const own = await newMandate();
    const one = () => ({ mandateId: own, intent: newIntent(buyer) });
    const reader = await createAgent(buyer.organizationId, ["payments:read"]);
    const many = Array.from({ length: 21 }, one);
    for (const [payments, pointer] of [
      [[], "/payments"],
      [many, "/payments"],
      [undefined, "/payments"],
    ] as const)
      expect((await postAll(payments)).json).toMatchObject({ code: "invalid_request", errors: [{ pointer }] });
    const withHeader = await postAll([one()], { ...buyer.agent.credential, "idempotency-key": "k" });
    expect(withHeader.json).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/headers/Idempotency-Key" }] });
    expect((await postAll([one()], reader.credential)).json.code).toBe("capability_required");
    expect((await postAll([one()], {})).status).toBe(401);
    expect(await authorizationsOf(own)).toEqual([]);
  });

  test("each payment counts for the rate limit; only the payments above the limit are refused", async () => {
    const agent = await createAgent(buyer.organizationId, ["payments:authorize"]);
    vi.stubEnv("RATE_LIMIT_PER_KEY", "8");
    const again = () => forget("env", "http/rate-limit");
    again();
    onTestFinished(() => (vi.unstubAllEnvs(), again()));
    const own = await newMandate();
    const payments = Array.from({ length: 20 }, () => ({ mandateId: own, intent: newIntent(buyer) }));
    const { headers, items } = await postAll(payments, agent.credential);
    expect(items.slice(0, 8).map(wordOf)).toEqual(Array.from({ length: 8 }, () => "allow"));
    const refused = items.filter((one) => one.status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(10);
    expect(refused[0]).toMatchObject({ retryAfterSeconds: 1, problem: { code: "rate_limited" } });
    expect(headers.get("ratelimit")).toBe('"credential";r=0;t=1');
  });

  test("equal payments with one idempotency key in a call are one payment; a different one gets 422", async () => {
    const own = await newMandate();
    const intent = newIntent(buyer);
    const { items } = await postAll([
      { mandateId: own, intent },
      { mandateId: own, intent },
      { mandateId: own, intent: { ...intent, amount: "0.1" } },
    ]);
    expect(items.map(wordOf)).toEqual(["allow", "allow", "idempotency_key_reused"]);
    expect(items.map(({ replayed }) => replayed)).toEqual([false, true, undefined]);
    expect(items[1]?.authorization).toEqual(items[0]?.authorization);
    expect(await holdsOf(own)).toHaveLength(1);
  });
});

/** The content of a decision without its ids and times, which are different for each decision. */
const plain = ({ policyDecision: { outcome, denialCode, reasons } }: Authorization) => ({
  outcome,
  denialCode,
  reasons: reasons.map(({ code, rule, effect, remaining, used }) => ({ code, rule, effect, remaining, used })),
});

describe("one call with several payments, and several calls with one payment", () => {
  const change = fc.constantFrom<Record<string, unknown>>(
    {},
    { amount: "0.4" },
    { amount: "0" },
    { expiresAt: "2020-01-01T00:00:00.000Z" },
    { resource: undefined },
    { nonce: "shared" },
    { outcome: "allow" },
  );
  /**
   * One payment. `mandate` is the index of one of three mandates with budgets for two payments each; index 3 does not exist.
   */
  const one = fc.record({ mandate: fc.integer({ min: 0, max: 3 }), key: fc.integer({ min: 0, max: 8 }), change });

  test("have the same answers, and each repeats the stored bytes of the other", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (drawn) => {
        const three = () => Promise.all([0, 1, 2].map(() => newMandate({ perPayment: "1", total: "1" })));
        const [single, several] = [await three(), await three()];
        const intents = Array.from({ length: 9 }, () => newIntent(buyer));
        const bodies = (mandateIds: readonly string[]) =>
          drawn.map(({ mandate, key, change: different }) => ({
            mandateId: mandateIds[mandate] ?? "mdt_unknown",
            intent: { ...intents[key], idempotencyKey: `${mandateIds[0]}-${key}`, ...different },
          }));
        const alone: Awaited<ReturnType<typeof post>>[] = [];
        for (const body of bodies(single)) alone.push(await post(body, buyer.agent.credential));
        const { text, items } = await postAll(bodies(several));
        expect(items.map(({ status, replayed = false }) => [status, replayed])).toEqual(
          alone.map(({ status, replayed }) => [status, replayed]),
        );
        for (const [at, { authorization, problem }] of items.entries()) {
          const other = alone[at]!;
          if (authorization) expect(plain(authorization)).toEqual(plain(other.data));
          else expect({ ...problem, requestId: "" }).toEqual({ ...other.problem, requestId: "" });
        }
        for (const body of bodies(several)) {
          const repeated = await post(body, buyer.agent.credential);
          if (repeated.status === 200) expect([repeated.replayed, text.includes(repeated.text)]).toEqual([true, true]);
        }
        const repeated = await postAll(bodies(single));
        for (const [at, { status, text: bytes }] of alone.entries()) {
          if (status !== 200) continue;
          expect(repeated.items[at]?.status).toBe(200);
          expect(repeated.text).toContain(bytes);
        }
      }),
      { numRuns: 12, seed: 20_261_125 },
    );
  });

  test("40 calls at once with some equal keys never exceed the budget, and each key has one answer", async () => {
    const own = await newMandate({ perPayment: "0.5", total: "25" });
    const intents = Array.from({ length: 200 }, () => newIntent(buyer));
    const calls = Array.from({ length: 40 }, (_, call) =>
      Array.from({ length: 20 }, (__, at) => ({ mandateId: own, intent: intents[(call * 5 + at) % 200] })),
    );
    const replies = await Promise.all(calls.map((payments) => postAll(payments)));
    const answers = new Map<string, Set<string>>();
    for (const [call, { items }] of replies.entries())
      for (const [at, result] of items.entries()) {
        expect(result.status).toBe(200);
        const key = calls[call]![at]!.intent!.idempotencyKey;
        answers.set(key, (answers.get(key) ?? new Set()).add(JSON.stringify(result.authorization)));
      }
    expect([...answers.values()].filter(({ size }) => size !== 1)).toEqual([]);
    expect(answers.size).toBe(200);
    expect(await holdsOf(own)).toHaveLength(50);
    expect((await authorizationsOf(own)).map(({ outcome }) => outcome).filter((one) => one === "allow")).toHaveLength(50);
    expect((await ask(buyer, own)).data.policyDecision.denialCode).toBe("mandate_exhausted");
  });
});
