import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { verifyChain } from "#lib/audit/verify-one-chain.ts";
import { database, listPool } from "#lib/db/client.ts";
import { mandates, usageBuckets } from "#lib/mandates/tables.ts";
import { factsAsked } from "#lib/payments/list-statements.ts";
import { ask, holdsOf, outcomes } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const PARALLEL = 200;
/** At 0.5 a payment. A year, so that no run meets the end of its window. */
const limits: readonly (readonly [name: string, limits: Record<string, unknown>, code: string])[] = [
  ["a budget a year", { budgets: [{ period: "year", timezone: "UTC", amount: "50" }] }, "period_budget_exceeded"],
  ["a rolling budget", { budgets: [{ rolling: "PT24H", amount: "50" }] }, "period_budget_exceeded"],
  ["a total", { total: "50" }, "mandate_exhausted"],
  ["a count a year", { total: "1000", counts: [{ period: "year", timezone: "UTC", max: 100 }] }, "count_limit_exceeded"],
  ["a rolling count", { total: "1000", counts: [{ rolling: "PT24H", max: 100 }] }, "count_limit_exceeded"],
];

describe("200 parallel authorizations with room for exactly 100", () => {
  test.each(limits)("in %s are 100 allow, 100 deny and no error", async (_name, limit, code) => {
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

  test("with a cooldown are one allow", async () => {
    const policy = { assets, limits: { perPayment: "0.5", total: "1000", cooldownSeconds: 600 } };
    const mandateId = await activeMandate(buyer.person.credential, { policy });
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => ask(buyer, mandateId)));
    expect(outcomes(answers)).toEqual({ allow: 1, deny: PARALLEL - 1 });
  });

  test("over 20 mandates each keep their own budget", async () => {
    const policy = { assets, limits: { perPayment: "0.5", total: "2.5" } };
    const mandateIds = await Promise.all(Array.from({ length: 20 }, () => activeMandate(buyer.person.credential, { policy })));
    const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, at) => ask(buyer, mandateIds[at % 20]!)));
    expect(outcomes(answers)).toEqual({ allow: 100, deny: 100 });
    for (const mandateId of mandateIds) expect(await holdsOf(mandateId)).toHaveLength(5);
  });
});

/** The buckets that a list would look at. */
async function bucketsRead(mandateId: string): Promise<number> {
  const nobody = { of: [], ids: [] };
  const nothing = {
    slots: [],
    intents: [],
    nonces: [],
    keyIds: [],
    sellerIds: [],
    organizations: [],
    paid: nobody,
    offered: nobody,
  };
  const c = await listPool().reserve();
  try {
    const rows = await factsAsked(c, { ...nothing, mandateIds: [mandateId] });
    return rows.filter(({ what }) => what === "bucket").length;
  } finally {
    c.release();
  }
}

test("a window that ends between the clock and the sums is not empty to the decision", async () => {
  const counts = [{ period: "year", timezone: "UTC", max: 1 }];
  const policy = { assets, limits: { perPayment: "0.5", total: "1000", counts } };
  const mandateId = await activeMandate(buyer.person.credential, { policy });
  expect(outcomes([await ask(buyer, mandateId)])).toEqual({ allow: 1 });
  const endedAgo = (time: string) =>
    database()
      .update(usageBuckets)
      .set({ liveUntil: sql`clock_timestamp() - ${time}::interval` })
      .where(eq(usageBuckets.mandateId, mandateId));
  await endedAgo("50 seconds");
  expect(await bucketsRead(mandateId)).toBe(1);
  await endedAgo("70 seconds");
  expect(await bucketsRead(mandateId)).toBe(0);
});
