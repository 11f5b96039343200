import { eq, sql } from "drizzle-orm";
import fc, { type AsyncCommand } from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { failed } from "#lib/x402/failure.ts";
import * as contract from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { parseAmount } from "#lib/money.ts";
import { resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import type { Finding } from "#lib/payments/executions/settlement-state.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { post } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { expireNow } from "#test/holds.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { execute, expectedOf, newWallet, paymentScene, signed, useSettlement, type PaymentScene } from "#test/payments.ts";
import { raiseStepUp } from "#test/proofs.ts";
import { brokenInvariants } from "#test/proof.ts";
import { newSeller } from "#test/sellers.ts";
import { send } from "#test/tenant.ts";

/* Under random concurrent requests, the limits and the sums of a mandate are those of a simple model of it. */

useDatabase();
const chain = useSettlement();

const PRICES = ["0.3", "0.5", "0.8"] as const;
const wallet = newWallet();
const atomic = (text: string): bigint => parseAmount(text, 6);

let scenes: readonly PaymentScene[];
beforeAll(async () => {
  const scene = await paymentScene({ price: PRICES[0] });
  const others = await Promise.all(PRICES.slice(1).map((price) => newSeller(scene.owner.credential, { price })));
  await raiseStepUp(scene.organizationId);
  scenes = [scene, ...others.map((seller) => ({ ...scene, seller }))];
  await chain().mint(wallet.address, 1_000_000_000n);
});

type Limits = { readonly total: string; readonly rolling: string; readonly amount: string; readonly count: number };
type Hold = { readonly price: number; state: "held" | "submitted" | "captured" | "gone"; executionId: string };
type Model = { active: boolean; limits: Limits; readonly holds: Map<string, Hold> };
type Real = { readonly mandateId: string };

const policyOf = ({ total, rolling, amount, count }: Limits) => ({
  assets,
  limits: { perPayment: "0.5", total, budgets: [{ rolling, amount }], counts: [{ rolling: "PT24H", max: count }] },
});

const sum = (model: Model, ...states: readonly Hold["state"][]): bigint =>
  [...model.holds.values()]
    .filter(({ state }) => states.includes(state))
    .reduce((all, { price }) => all + atomic(PRICES[price]!), 0n);

/** Whether the limits of the model allow one more payment of this price. */
function fits({ limits, holds }: Model, used: bigint, price: number): boolean {
  const amount = atomic(PRICES[price]!);
  const payments = [...holds.values()].filter(({ state }) => state !== "gone").length;
  const within = (limit: string) => used + amount <= atomic(limit);
  return amount <= atomic("0.5") && within(limits.total) && within(limits.amount) && payments + 1 <= limits.count;
}

async function agree(model: Model, { mandateId }: Real): Promise<void> {
  const [row] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
  expect({ spent: row?.spent, reserved: row?.reserved }).toEqual({
    spent: sum(model, "captured"),
    reserved: sum(model, "held", "submitted"),
  });
}

const some = (model: Model, state: Hold["state"], most: number): [string, Hold][] =>
  [...model.holds].filter(([, hold]) => hold.state === state).slice(0, most);

let count = 0;

type ModelPayment = { readonly price: number; readonly authorizationId: string; readonly outcome: string };

async function ask(price: number, { mandateId }: Real): Promise<ModelPayment> {
  const { seller, agent } = scenes[price]!;
  const name = `m-${++count}`;
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  const what = { seller: { sellerId: seller.sellerId }, resource: { resourceId: seller.resourceId }, amount: seller.price };
  const intent = { intentId: name, nonce: name, idempotencyKey: name, ...what, asset: "USDC", expiresAt };
  const { status, data, text } = await post({ mandateId, intent }, agent.credential);
  expect(status, text).toBe(200);
  return { price, authorizationId: data.authorizationId, outcome: data.policyDecision.outcome };
}

function note(model: Model, asked: readonly ModelPayment[]): void {
  for (const { price, authorizationId, outcome } of asked) {
    if (outcome === "allow") model.holds.set(authorizationId, { price, state: "held", executionId: "" });
  }
}

const expire = async (authorizationIds: readonly string[]): Promise<void> => {
  if (authorizationIds.length > 0) await expireNow(sql`authorization_id IN ${[...authorizationIds]}`);
};

const change = ({ mandateId }: Real, limits: Limits) =>
  send(contract.updateMandate, updateMandate, {
    as: scenes[0]!.person.credential,
    id: mandateId,
    body: { policy: policyOf(limits) },
  });

/** A command that can always run. After it, the mandate's sums must equal those of the model. */
const command = (name: string, run: (model: Model, real: Real) => Promise<unknown>): AsyncCommand<Model, Real, true> => ({
  check: () => Promise.resolve(true),
  async run(model, real) {
    await run(model, real);
    await agree(model, real);
  },
  toString: () => name,
});

const authorizeMany = (prices: readonly number[]) =>
  command(`authorize ${prices.join(" ")}`, async (model, real) => {
    const asked = await Promise.all(prices.map((price) => ask(price, real)));
    const denied = asked.filter(({ outcome }) => outcome === "deny");
    if (!model.active) expect(denied).toHaveLength(asked.length);
    for (const one of asked.filter(({ outcome }) => outcome === "allow")) {
      // All allowed payments together must be within the limits, in any order of the decisions.
      expect(fits(model, sum(model, "held", "submitted", "captured"), one.price)).toBe(true);
      note(model, [one]);
    }
    const used = sum(model, "held", "submitted", "captured");
    if (model.active) for (const { price } of denied) expect(fits(model, used, price)).toBe(false);
  });

const executeMany = (most: number) =>
  command(`execute ${most}`, async (model) => {
    const chosen = some(model, "held", most);
    await Promise.all(
      chosen.map(async ([authorizationId, hold]) => {
        const scene = scenes[hold.price]!;
        const paymentCredential = await signed(wallet, expectedOf(scene));
        const body = { authorizationId, idempotencyKey: `x-${authorizationId}`, paymentCredential };
        if (!model.active) body.idempotencyKey += `-${++count}`;
        const twins = await Promise.all([execute(scene, body), execute(scene, body)]);
        const done = twins.find(({ status }) => status === 200);
        if (!model.active) return expect(done).toBeUndefined();
        expect(done?.data.settlementStatus).toBe("pending");
        Object.assign(hold, { state: "submitted", executionId: done?.data.executionId });
      }),
    );
  });

const settleMany = (most: number, paid: boolean) =>
  command(`${paid ? "settle" : "fail"} ${most}`, async (model, { mandateId }) => {
    const failure = failed("credential_expired", "It was never used.");
    const finding: Finding = paid ? { kind: "settled", transaction: `0x${"ab".repeat(32)}` } : { kind: "failed", failure };
    const found = ({ executionId }: Hold) => transact((tx) => resolveExecution(tx, executionId, mandateId, finding));
    const chosen = some(model, "submitted", most);
    // Each execution is resolved twice at the same time, because two workers may find the same result.
    await Promise.all(chosen.flatMap(([, hold]) => [found(hold), found(hold)]));
    for (const [, hold] of chosen) hold.state = paid ? "captured" : "gone";
  });

const sweepMany = (most: number) =>
  command(`expire ${most}`, async (model) => {
    const chosen = some(model, "held", most);
    await expire(chosen.map(([authorizationId]) => authorizationId));
    await Promise.all([sweepHolds(), sweepHolds()]);
    for (const [, hold] of chosen) hold.state = "gone";
  });

const changePolicy = (limits: Limits) =>
  command(`limits ${JSON.stringify(limits)}`, async (model, real) => {
    expect((await change(real, limits)).status).toBe(200);
    model.limits = limits;
  });

const suspendOrResume = command("suspend or resume", async (model, { mandateId }) => {
  const as = { as: scenes[0]!.person.credential, id: mandateId };
  const step = model.active ? send(contract.suspendMandate, suspendMandate, as) : send(contract.resumeMandate, resumeMandate, as);
  expect((await step).status).toBe(200);
  model.active = !model.active;
});

/**
 * Authorizes payments, changes the limits and expires holds at the same time. The order is unknown, so the single decisions are
 * not compared with the model, only the sums in the database.
 */
const storm = (prices: readonly number[], limits: Limits, most: number) =>
  command(`storm ${prices.join(" ")}`, async (model, real) => {
    const chosen = some(model, "held", most);
    await expire(chosen.map(([authorizationId]) => authorizationId));
    const asking = Promise.all(prices.map((price) => ask(price, real)));
    const [asked, changed] = await Promise.all([asking, change(real, limits), sweepHolds()]);
    await sweepHolds();
    expect(changed.status).toBe(200);
    model.limits = limits;
    for (const [, hold] of chosen) hold.state = "gone";
    note(model, asked);
  });

const prices = fc.array(fc.nat(PRICES.length - 1), { minLength: 2, maxLength: 16 });
/**
 * The amounts are random multiples of 0.1 USDC. The length of the rolling window varies too, because a new window must count earlier
 * payments.
 */
const limits: fc.Arbitrary<Limits> = fc
  .record({
    total: fc.integer({ min: 5, max: 90 }),
    amount: fc.integer({ min: 5, max: 90 }),
    rolling: fc.constantFrom("PT1H", "PT2H"),
    count: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ total, amount, ...rest }) => ({
    ...rest,
    total: (total / 10).toFixed(1),
    amount: (Math.min(total, amount) / 10).toFixed(1),
  }));
const few = fc.integer({ min: 1, max: 6 });

const commands = fc.commands(
  [
    prices.map(authorizeMany),
    prices.map(authorizeMany),
    few.map(executeMany),
    fc.tuple(few, fc.boolean()).map(([most, paid]) => settleMany(most, paid)),
    few.map(sweepMany),
    limits.map(changePolicy),
    fc.constant(suspendOrResume),
    fc.tuple(prices, limits, few).map(([several, next, most]) => storm(several, next, most)),
  ],
  { maxCommands: 24, size: "max" },
);

describe("a mandate that many clients use", () => {
  test("never spends or reserves more than a model of it allows, and denies no payment that the model allows", async () => {
    await fc.assert(
      fc.asyncProperty(limits, commands, async (first, list) => {
        const setup = async () => {
          const mandateId = await activeMandate(scenes[0]!.person.credential, { policy: policyOf(first) });
          return { model: { active: true, limits: first, holds: new Map<string, Hold>() }, real: { mandateId } };
        };
        await fc.asyncModelRun(setup, list);
      }),
      { numRuns: 40, seed: 20_261_121, endOnFailure: true },
    );
    // A window that was added later counts earlier captured payments, although their holds do not name its buckets. So only
    // the sums of open holds must match.
    const broken = await brokenInvariants();
    expect(broken.filter((line) => !line.includes('"what":"bucket"'))).toEqual([]);
    const unheld = await database().execute(sql`
      SELECT b.mandate_id, b.window_key FROM usage_buckets b WHERE b.reserved <> (
        SELECT coalesce(sum(r.amount), 0) FROM reservations r, json_array_elements(r.buckets) AS p
        WHERE r.mandate_id = b.mandate_id AND r.status IN ('held', 'submitted')
          AND p ->> 0 = b.window_key AND to_timestamp((p ->> 1)::numeric / 1000) = b.start)`);
    expect(unheld).toHaveLength(0);
  });
});
