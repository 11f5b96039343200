import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { usageBuckets } from "#lib/mandates/tables.ts";
import { forgetOldBuckets } from "#lib/mandates/window-store.ts";
import { atomicOf, zero } from "#lib/money.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";

useDatabase();

const HOUR = 3_600_000;
const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR);

test("all old buckets are deleted, however many there are; buckets that still count and those of an open hold stay", async () => {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  await authorize(buyer, mandateId);
  const over = (hours: number, reserved = zero) => ({
    mandateId,
    windowKey: "PT1H",
    start: ago(hours + 1),
    liveUntil: ago(hours),
    spent: atomicOf(1n),
    reserved,
  });
  const old = Array.from({ length: 1_500 }, (_, at) => over(25 + at));
  await database()
    .insert(usageBuckets)
    .values([...old, over(23), over(2_000, atomicOf(1n))]);
  expect(await forgetOldBuckets()).toBe(1_500);
  const kept = await database().select().from(usageBuckets).where(eq(usageBuckets.mandateId, mandateId));
  expect(kept.map(({ windowKey }) => windowKey).toSorted()).toEqual(["PT1H", "PT1H", "day UTC"]);
  expect((await authorize(buyer, mandateId)).policyDecision.outcome).toBe("allow");
  expect(await forgetOldBuckets()).toBe(0);
});

test("a locked bucket is skipped until the next run, without waiting", async () => {
  const mandateId = await activeMandate((await createBuyer()).person.credential);
  await database()
    .insert(usageBuckets)
    .values({ mandateId, windowKey: "PT1H", start: ago(50), liveUntil: ago(49) });
  await database().transaction(async (tx) => {
    await tx.select().from(usageBuckets).where(eq(usageBuckets.mandateId, mandateId)).for("update");
    expect(await forgetOldBuckets()).toBe(0);
  });
  expect(await forgetOldBuckets()).toBe(1);
});
