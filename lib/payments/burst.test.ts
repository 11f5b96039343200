import { eq, sql } from "drizzle-orm";
import postgres from "postgres";
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import { mandates, usageBuckets } from "#lib/mandates/tables.ts";
import { ask, holdsOf, outcomes } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";

const databaseOf = useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const PARALLEL = 200;
/**
 * Each payment is 0.5, so there is room for 100. The calendar windows last a year, so that hardly any test run crosses the end of
 * a window.
 */
const limits: readonly (readonly [name: string, limits: Record<string, unknown>, code: string])[] = [
  ["a budget a year", { budgets: [{ period: "year", timezone: "UTC", amount: "50" }] }, "period_budget_exceeded"],
  ["a rolling budget", { budgets: [{ rolling: "PT24H", amount: "50" }] }, "period_budget_exceeded"],
  ["a total", { total: "50" }, "mandate_exhausted"],
  ["a count a year", { total: "1000", counts: [{ period: "year", timezone: "UTC", max: 100 }] }, "count_limit_exceeded"],
  ["a rolling count", { total: "1000", counts: [{ rolling: "PT24H", max: 100 }] }, "count_limit_exceeded"],
];

describe("200 parallel authorizations with room for exactly 100", () => {
  test.each(limits)("under %s get 100 allow, 100 deny and no error", async (_name, limit, code) => {
    const mandateId = await activeMandate(buyer.person.credential, {
      policy: { assets, limits: { perPayment: "0.5", ...limit } },
    });
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => ask(buyer, mandateId)));
    expect(outcomes(answers)).toEqual({ allow: 100, deny: 100 });
    const codes = answers.flatMap(({ data }) => data.policyDecision.denialCode ?? []);
    expect(new Set(codes)).toEqual(new Set([code]));
    expect(await holdsOf(mandateId)).toHaveLength(100);
    const [mandate] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
    expect([mandate?.spent, mandate?.reserved]).toEqual([0n, 50_000_000n]);
    expect((await verifyChain(buyer.organizationId)).valid).toBe(true);
  });

  test("under a cooldown are allowed only once", async () => {
    const policy = { assets, limits: { perPayment: "0.5", total: "1000", cooldownSeconds: 600 } };
    const mandateId = await activeMandate(buyer.person.credential, { policy });
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => ask(buyer, mandateId)));
    expect(outcomes(answers)).toEqual({ allow: 1, deny: PARALLEL - 1 });
  });

  test("under 20 mandates with smaller budgets do not exceed any of them", async () => {
    const policy = { assets, limits: { perPayment: "0.5", total: "2.5" } };
    const mandateIds = await Promise.all(Array.from({ length: 20 }, () => activeMandate(buyer.person.credential, { policy })));
    const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, at) => ask(buyer, mandateIds[at % 20]!)));
    expect(outcomes(answers)).toEqual({ allow: 100, deny: 100 });
    for (const mandateId of mandateIds) expect(await holdsOf(mandateId)).toHaveLength(5);
  });
});

test("a window that ends while the facts are read still counts, because the clock was read before", async () => {
  const counts = [{ period: "year", timezone: "UTC", max: 1 }];
  const policy = { assets, limits: { perPayment: "0.5", total: "1000", counts } };
  const mandateId = await activeMandate(buyer.person.credential, { policy });
  expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
  // Sellers are read after the clock and before the sums of the windows, so this lock delays the decision between the two.
  const direct = postgres(databaseOf().url, { max: 1, onnotice: () => {} });
  await direct.unsafe(`
    CREATE FUNCTION waits() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN true; END $$;
    ALTER TABLE sellers RENAME TO sellers_at_once;
    CREATE VIEW sellers AS SELECT * FROM sellers_at_once WHERE waits()`);
  onTestFinished(async () => {
    await direct.unsafe("DROP VIEW sellers; ALTER TABLE sellers_at_once RENAME TO sellers");
    await direct.end();
  });
  const reading = await hold(databaseOf().url, "SELECT pg_advisory_xact_lock(4711)");
  await database()
    .update(usageBuckets)
    .set({ liveUntil: sql`statement_timestamp() + interval '400 milliseconds'` })
    .where(eq(usageBuckets.mandateId, mandateId));
  const asked = ask(buyer, mandateId);
  await reading.blocks();
  const isOver = sql`SELECT FROM usage_buckets WHERE mandate_id = ${mandateId} AND live_until < clock_timestamp()`;
  expect(await database().execute(isOver)).toHaveLength(0);
  await expect.poll(async () => (await database().execute(isOver)).length, { interval: 5 }).toBe(1);
  await reading.release();
  const late = await asked;
  expect(late.data.policyDecision.denialCode).toBe("count_limit_exceeded");
});
