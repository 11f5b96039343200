import { eq } from "drizzle-orm";
import { publicKeys } from "#lib/audit/signing-key.ts";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import { captureHold, expireHolds, holdOf, lockMandate, releaseHold } from "#lib/holds/hold-store.ts";
import * as contract from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { getRemaining } from "#lib/mandates/get-remaining.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { simulateMandate } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { listMandateLedger } from "#lib/mandates/list-mandate-ledger.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { prepareRegistration } from "#lib/onchain/registration/prepare-registration.ts";
import { prepareRegistration as prepareOperation } from "#lib/onchain/registry/registration-contract.ts";
import * as receipts from "#lib/payments/receipts/contract.ts";
import { getPaymentReceipt } from "#lib/payments/receipts/get-payment-receipt.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { ask, authorizationsOf, holdsOf, outcomes } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, authorize, CHAIN, createBuyer, eventsOf, policy, type Buyer } from "#test/mandates.ts";
import { createOrganization, createResource, send } from "#test/tenant.ts";
import { inUsd, useTwoTokens } from "#test/two-tokens.ts";

useDatabase();
useTwoTokens();

let buyer: Buyer;
let inEuros: Buyer["resource"];
beforeAll(async () => {
  buyer = await createBuyer();
  inEuros = await createResource(await createOrganization("Shop in euros"), "0.25", { asset: "EURX" });
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const as = () => buyer.person.credential;
const payEuros = (mandateId: string) => ask({ ...buyer, resource: inEuros }, mandateId, { asset: "EURX", amount: "0.25" });
const patch = (id: string, body: unknown) => send(contract.updateMandate, updateMandate, { as: as(), id, body });
const remaining = async (id: string) => (await send(contract.getRemaining, getRemaining, { as: as(), id })).data;

describe("a mandate in USD", () => {
  test("pays in two tokens, and counts both in USD", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    const answers = [await ask(buyer, mandateId), await payEuros(mandateId)];
    expect(outcomes(answers)).toEqual({ allow: 2 });
    const { data } = await send(contract.getMandate, getMandate, { as: as(), id: mandateId });
    expect(data.usage).toEqual([{ window: "total", unit: "USD", limit: "5", spent: "0", reserved: "0.78", available: "4.22" }]);
    const rows = await authorizationsOf(mandateId);
    expect(rows.map(({ amount, unitAmount, unitRate }) => [amount, unitAmount, unitRate])).toEqual([
      [500_000n, 500_000_000n, "1 USD"],
      [250_000_000_000_000_000n, 280_000_000n, "1.12 USD"],
    ]);
    const events = await Promise.all(answers.map(({ data: one }) => eventsOf(one.authorizationId)));
    expect(events.map(([one]) => one?.metadata)).toMatchObject([
      { amount: "0.5", asset: "USDC", unitAmount: "0.5", unitRate: "1 USD" },
      { amount: "0.25", asset: "EURX", unitAmount: "0.28", unitRate: "1.12 USD" },
    ]);
    expect((await verifyChain(buyer.organizationId)).valid).toBe(true);
  });

  test("is never exceeded by 200 parallel payments in two tokens", async () => {
    const budgets = [{ period: "year", timezone: "UTC", amount: "20" }];
    const mandateId = await activeMandate(as(), { policy: inUsd({ budgets }) });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? ask(buyer, mandateId) : payEuros(mandateId))),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const held = (await holdsOf(mandateId)).reduce((sum, { amount }) => sum + amount, 0n);
    expect(held).toBeLessThanOrEqual(20_000_000_000n);
    expect(held).toBeGreaterThan(20_000_000_000n - 500_000_000n);
    const [mandate] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
    expect([mandate?.asset, mandate?.chain, mandate?.reserved]).toEqual(["USD", "iso4217:USD", held]);
  });

  test("gets back what a payment counted as, and keeps what was captured", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    const [one, two] = [(await payEuros(mandateId)).data, (await payEuros(mandateId)).data];
    await transact(async (tx) => {
      await captureHold(tx, (await holdOf(tx, one.authorizationId))!);
      await releaseHold(tx, (await holdOf(tx, two.authorizationId))!, "released");
    });
    const { data } = await send(contract.listMandateLedger, listMandateLedger, { as: as(), id: mandateId });
    expect(data.items.map(({ kind, amount, asset }) => [kind, amount, asset])).toEqual([
      ["release", "0.28", "USD"],
      ["capture", "0.28", "USD"],
      ["hold", "0.28", "USD"],
      ["hold", "0.28", "USD"],
    ]);
    const limit = (await remaining(mandateId)).limits.find(({ pointer }) => pointer === "/limits/total");
    expect(limit).toEqual({ pointer: "/limits/total", unit: "USD", limit: "5", used: "0.28", remaining: "4.72" });
  });

  test("gets back what a payment counted as when its hold ends unused", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    await payEuros(mandateId);
    await transact(async (tx) => {
      const mandate = await lockMandate(tx, mandateId);
      await expireHolds(tx, { ...mandate!, status: "revoked" }, { since: new Date(0), until: null }, 10);
    });
    const { data } = await send(contract.getMandate, getMandate, { as: as(), id: mandateId });
    expect(data.usage).toMatchObject([{ spent: "0", reserved: "0", available: "5" }]);
  });

  test("counts earlier payments in a new window by their own rates", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    await payEuros(mandateId);
    const budgets = [{ period: "month", timezone: "UTC", amount: "5" }];
    const { status, data } = await patch(mandateId, { policy: inUsd({ total: "5", budgets }, { USDC: "1", EURX: "1.2" }) });
    expect([status, data.usage.map(({ reserved }) => reserved)]).toEqual([200, ["0.28", "0.28"]]);
    await payEuros(mandateId);
    expect((await remaining(mandateId)).limits.map(({ used }) => used)).toEqual(["0", "0.58", "0.58"]);
  });

  test("says in its simulation what a payment counts as, and what another rate would decide", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    await payEuros(mandateId);
    const body = { policy: inUsd({ total: "5" }, { USDC: "1", EURX: "4.1" }), last: 10 };
    const { data } = await send(contract.simulateMandate, simulateMandate, { as: as(), id: mandateId, body });
    expect(data).toMatchObject({ items: [{ was: "allow", wouldBe: "deny", amount: "0.25", asset: "EURX" }] });
    expect(JSON.stringify(data)).toContain("0.25 EURX on eip155:84532 count as 1.025 USD: 1 EURX counts as 4.1 USD.");
  });

  test("tells agents what it pays in", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    const { unit, assets: coins, asset } = await remaining(mandateId);
    expect([unit, asset]).toEqual(["USD", undefined]);
    expect(coins).toMatchObject([
      { asset: "USDC", chain: CHAIN, counts: "1", tokenDecimals: 6 },
      { asset: "EURX", chain: CHAIN, counts: "1.12", tokenDecimals: 18 },
    ]);
  });

  test("states in its receipts what a payment counted as", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }) });
    const { authorizationId } = (await payEuros(mandateId)).data;
    const { data } = await send(receipts.getPaymentReceipt, getPaymentReceipt, { as: as(), id: authorizationId });
    const claims = JSON.parse(Buffer.from(data.receipt.split(".")[1]!, "base64url").toString()) as object;
    expect(claims).toMatchObject({ amount: "250000000000000000", decimals: 18, unit: { amount: "0.28", rate: "1.12 USD" } });
    expect(JSON.parse(data.proof!.event)).toMatchObject({ metadata: { unitAmount: "0.28", unitRate: "1.12 USD" } });
    expect(await verifyReceipt(data, publicKeys())).toMatchObject({ ok: true, withProof: true });
  });

  test("cannot be registered on a chain", async () => {
    const { mandateId } = (
      await send(contract.createMandate, createMandate, { as: as(), body: { name: "In USD", policy: inUsd({ total: "5" }) } })
    ).data;
    const query = `?payeeAddress=${inEuros.payTo}&path=proofs`;
    const { problem } = await send(prepareOperation, prepareRegistration, { as: as(), id: mandateId, query });
    expect([problem.code, problem.detail]).toEqual(["conflict", expect.stringContaining("Only a mandate in one token")]);
  });

  test("denies a token that it does not list", async () => {
    const mandateId = await activeMandate(as(), { policy: inUsd({ total: "5" }, { USDC: "1" }) });
    expect((await payEuros(mandateId)).data.policyDecision.denialCode).toBe("asset_not_allowed");
    const [row] = await authorizationsOf(mandateId);
    expect([row?.unitAmount, row?.unitRate]).toEqual([null, null]);
  });
});

describe("the unit of a mandate", () => {
  const total = { total: "5" };
  const one = (change: object) => ({ ...inUsd(total), ...change });

  test.each<[string, object, object]>([
    ["is not added", policy, inUsd(total)],
    ["is not removed", inUsd(total), policy],
    ["is not changed", inUsd(total), one({ unit: "EUR" })],
  ])("%s", async (_what, before, after) => {
    const id = await activeMandate(as(), { policy: before });
    const { status, problem } = await patch(id, { policy: after });
    expect([status, problem.errors?.map(({ pointer }) => pointer)]).toEqual([400, ["/policy/unit"]]);
    expect(problem.nextActions[0]).toMatchObject({ type: "create_mandate" });
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ["a lower rate", { USDC: "1", EURX: "1.12" }, { USDC: "1", EURX: "1.11" }],
    ["another token", { USDC: "1" }, { USDC: "1", EURX: "1.12" }],
  ])("takes %s only with a proof of identity, and a higher rate of fewer tokens without", async (_what, before, after) => {
    const large = { total: "1000", perPayment: "100" };
    const id = await activeMandate(as(), { policy: inUsd(large, before) });
    expect((await patch(id, { policy: inUsd(large, after) })).problem.code).toBe("step_up_required");
    expect((await patch(id, { policy: inUsd(large, { USDC: "2" }) })).status).toBe(200);
  });

  test("a low rate counts as what it lets through when the mandate is activated", async () => {
    const { data } = await send(contract.createMandate, createMandate, {
      as: as(),
      body: { name: "Cheap", policy: inUsd({ total: "1" }, { USDC: "0.0001" }) },
    });
    const { problem } = await send(contract.activateMandate, activateMandate, { as: as(), id: data.mandateId });
    expect([problem.code, problem.detail]).toEqual(["step_up_required", expect.stringContaining("10,000.00 USD")]);
  });

  test("refuses a token that is not configured, and a currency without a unit", async () => {
    const create = async (terms: object) =>
      (await send(contract.createMandate, createMandate, { as: as(), body: { name: "Test", policy: terms } })).problem.errors;
    expect(await create(inUsd(total, { USDC: "1", PYUSD: "1" }))).toMatchObject([{ pointer: "/policy/assets/1/asset" }]);
    expect(
      await create({ assets: [{ asset: "USD", chain: "iso4217:USD" }], limits: { perPayment: "1", total: "5" } }),
    ).toMatchObject([{ pointer: "/policy/unit" }]);
  });
});

test("a payment under a mandate without a unit has no amount in a unit, in its row and in its event", async () => {
  const mandateId = await activeMandate(as(), { policy: { assets, limits: { perPayment: "1", total: "5" } } });
  const { authorizationId } = await authorize(buyer, mandateId);
  const [row] = await authorizationsOf(mandateId);
  expect([row?.unitAmount, row?.unitRate]).toEqual([null, null]);
  const [event] = await eventsOf(authorizationId);
  expect(Object.keys(event!.metadata)).toEqual([
    "amount",
    "asset",
    "chain",
    "intentId",
    "mandateId",
    "policyDecisionId",
    "policyVersion",
    "requestId",
    "reservationId",
    "sellerId",
  ]);
});
