import { sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import { authorizeBatch } from "#lib/payments/authorize-batch.ts";
import { bounds } from "#lib/payments/queue.ts";
import { authorizationsOf, holdsOf } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { inShort, itemOf, tally } from "#test/batches.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";

const databaseOf = useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
  // The sequence counts every transaction that reaches the INSERT, even if it is rolled back, because a rollback does not reset a
  // sequence.
  await database().execute(sql`CREATE SEQUENCE attempts`);
  await database().execute(sql`CREATE FUNCTION count_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('attempts'); RETURN NULL; END $$`);
  await database().execute(sql`CREATE TRIGGER count_attempts BEFORE INSERT ON authorizations
    FOR EACH STATEMENT EXECUTE FUNCTION count_attempt()`);
  await database().execute(sql`ALTER TABLE authorizations ADD CONSTRAINT poison CHECK (nonce NOT LIKE 'poison%')`);
});
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
  expect((await verifyChain(buyer.organizationId)).valid).toBe(true);
});

async function attempts(): Promise<number> {
  const [row] = await database().execute<{ value: string }>(sql`SELECT nextval('attempts') AS value`);
  return Number(row?.value);
}

const policy = { assets, limits: { perPayment: "1", total: "1000000" } };
async function newMandates(count: number): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) made.push(await activeMandate(buyer.person.credential, { policy }));
  return made;
}

/** A full batch of payments. The mandate at each position of `sizes` gets that many payments. */
async function fullList(sizes: readonly number[]) {
  const mandateIds = await newMandates(sizes.length);
  const items = mandateIds.flatMap((mandateId, at) => Array.from({ length: sizes[at] ?? 0 }, () => itemOf(buyer, mandateId)));
  expect(items).toHaveLength(bounds.itemsPerBatch);
  return { mandateIds, items };
}

const even = (mandates: number): number[] => Array.from({ length: mandates }, () => bounds.itemsPerBatch / mandates);

describe("a request that the database refuses fails alone", () => {
  const shapes: readonly (readonly [name: string, sizes: readonly number[], at: number])[] = [
    ["first of one mandate", even(1), 0],
    ["in the middle of one mandate", even(1), 129],
    ["last of two mandates", even(2), 255],
    ["in the middle of 64 mandates", even(64), 130],
    ["last of 64 mandates", even(64), 255],
    ["in the large one of eight mandates", [1, 1, 1, 1, 1, 1, 1, 249], 200],
    ["in the large one of nine mandates", [30, 30, 30, 30, 30, 30, 30, 30, 16], 250],
    ["alone under one of eight mandates", [249, 1, 1, 1, 1, 1, 1, 1], 255],
  ];

  test.each(shapes)("%s, in at most 20 transactions for a batch of 256", async (_name, sizes, at) => {
    const { mandateIds, items } = await fullList(sizes);
    const poisoned = items.with(at, itemOf(buyer, items[at]!.mandateId, { nonce: `poison-${at}-${sizes.length}` }));
    const before = await attempts();
    const answers = await authorizeBatch(poisoned);
    expect((await attempts()) - before - 1).toBeLessThanOrEqual(20);
    expect(tally(answers)).toEqual({ allow: 255, internal_error: 1 });
    expect(inShort(answers[at]!)).toBe("internal_error");
    const stored = (await Promise.all(mandateIds.map((mandateId) => authorizationsOf(mandateId)))).flat();
    expect(stored).toHaveLength(255);
    expect(stored.filter(({ nonce }) => nonce.startsWith("poison"))).toEqual([]);
  });

  test("with every second request refused, only answered decisions are stored", async () => {
    const [mandateId = ""] = await newMandates(1);
    const items = Array.from({ length: 64 }, (_, at) => itemOf(buyer, mandateId, at % 2 ? {} : { nonce: `poison-many-${at}` }));
    const before = await attempts();
    const answers = await authorizeBatch(items);
    expect((await attempts()) - before - 1).toBeLessThanOrEqual(20);
    const allowed = items.filter((_, at) => inShort(answers[at]!) === "allow").map(({ slot }) => slot);
    expect((await authorizationsOf(mandateId)).map(({ slot }) => slot).toSorted()).toEqual(allowed.toSorted());
    for (const [at, answer] of answers.entries()) {
      expect(at % 2 ? ["allow", "overloaded"] : ["internal_error", "overloaded"]).toContain(inShort(answer));
    }
  });
});

describe("a batch that exceeds the limit of its mandate", () => {
  test.each([
    ["a total", { total: "50" }],
    ["a budget a year", { budgets: [{ period: "year", timezone: "UTC", amount: "50" }] }],
    ["a rolling budget", { budgets: [{ rolling: "PT24H", amount: "50" }] }],
    ["a count", { total: "1000", counts: [{ rolling: "PT24H", max: 100 }] }],
  ])("is denied before it is written, without reaching the checks of the table (%s)", async (_name, limit) => {
    const limits = { perPayment: "1", ...limit };
    const mandateId = await activeMandate(buyer.person.credential, { policy: { assets, limits } });
    const before = await attempts();
    const answers = await authorizeBatch(Array.from({ length: bounds.itemsPerBatch }, () => itemOf(buyer, mandateId)));
    expect((await attempts()) - before - 1).toBe(1);
    expect(answers.map(inShort)).toEqual([...Array<string>(100).fill("allow"), ...Array<string>(156).fill("deny")]);
  });
});

describe("a mandate with an unreadable policy", () => {
  const corrupt = async (mandateId: string): Promise<void> => {
    await database().execute(sql`INSERT INTO mandate_versions (mandate_id, version, policy, created_by, created_at)
      VALUES (${mandateId}, 2, '{"assets": [], "limits": {}}', 'usr_test', now())`);
    await database().execute(sql`UPDATE mandates SET version = 2 WHERE mandate_id = ${mandateId}`);
  };

  test.each([
    ["one of its requests", [1, 255]],
    ["half a batch of its requests", [128, 128]],
  ])("refuses %s and nothing else, in one transaction", async (_name, sizes) => {
    const { mandateIds, items } = await fullList(sizes);
    const [bad = "", good = ""] = mandateIds;
    await corrupt(bad);
    const before = await attempts();
    const answers = await authorizeBatch(items);
    expect((await attempts()) - before - 1).toBe(1);
    expect(tally(answers)).toEqual({ allow: sizes[1], internal_error: sizes[0] });
    expect(await authorizationsOf(bad)).toEqual([]);
    expect(await holdsOf(good)).toHaveLength(sizes[1] ?? 0);
  });

  test("works again as soon as its policy is readable", async () => {
    const [mandateId = ""] = await newMandates(1);
    expect(tally(await authorizeBatch([itemOf(buyer, mandateId)]))).toEqual({ allow: 1 });
    await corrupt(mandateId);
    expect(tally(await authorizeBatch([itemOf(buyer, mandateId)]))).toEqual({ internal_error: 1 });
    await database().execute(sql`UPDATE mandates SET version = 1 WHERE mandate_id = ${mandateId}`);
    expect(tally(await authorizeBatch([itemOf(buyer, mandateId)]))).toEqual({ allow: 1 });
  });
});

describe("a resource that cannot be read", () => {
  test("refuses only the requests for it", async () => {
    const other = await createBuyer();
    onTestFinished(async () => {
      await database().execute(sql`UPDATE resources SET pricing = '{"type": "fixed", "amount": "0.5", "asset": "USDC"}'
        WHERE seller_id = ${other.resource.sellerId}`);
    });
    await database().execute(sql`UPDATE resources SET pricing = 'null' WHERE seller_id = ${other.resource.sellerId}`);
    const [mandateId = ""] = await newMandates(1);
    const { sellerId, resourceId } = other.resource;
    const broken = itemOf(buyer, mandateId, { seller: { sellerId }, resource: { resourceId } });
    const answers = await authorizeBatch([itemOf(buyer, mandateId), broken, itemOf(buyer, mandateId)]);
    expect(answers.map(inShort)).toEqual(["allow", "internal_error", "allow"]);
  });
});

describe("one idempotency key under two mandates in two processes", () => {
  test("has one effect, and the other call is told that the key was used", async () => {
    const [mandateIds, before] = [await newMandates(2), await attempts()];
    const [one, other] = mandateIds.map((mandateId) => itemOf(buyer, mandateId));
    const others = Array.from({ length: 3 }, () => itemOf(buyer, mandateIds[1]!));
    // Wait until both batches have read the idempotency key and neither has written it.
    const head = await hold(databaseOf().url, `SELECT FROM audit_heads WHERE chain = '${buyer.organizationId}' FOR UPDATE`);
    const first = authorizeBatch([one!]);
    await head.blocks();
    const second = authorizeBatch([...others, { ...other!, slot: one!.slot }]);
    const waiting = () =>
      database().execute(sql`SELECT FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()`);
    await expect.poll(async () => (await waiting()).length, { interval: 5 }).toBe(2);
    await head.release();
    const answers = [...(await first), ...(await second)];
    expect(tally(answers)).toEqual({ allow: 4, idempotency_key_reused: 1 });
    expect((await attempts()) - before - 1).toBe(3);
    expect((await authorizationsOf(mandateIds[0]!)).length + (await authorizationsOf(mandateIds[1]!)).length).toBe(4);
  });
});
