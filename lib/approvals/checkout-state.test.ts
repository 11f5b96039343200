import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { sqlState } from "#lib/db/failure.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf } from "#lib/money.ts";
import { CheckoutStatus } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

const transitions: Readonly<Record<CheckoutStatus, readonly CheckoutStatus[]>> = {
  previewed: ["awaiting_approval", "rejected", "expired", "canceled", "superseded"],
  awaiting_approval: ["approved", "rejected", "expired", "canceled", "superseded"],
  approved: ["authorized", "rejected", "expired", "canceled", "superseded", "failed"],
  authorized: ["executing", "expired", "superseded", "failed"],
  executing: ["completed", "failed"],
  completed: [],
  rejected: [],
  expired: [],
  canceled: [],
  failed: [],
  superseded: [],
};

const address = `0x${"5a".repeat(20)}`;

async function checkoutIn(status: CheckoutStatus): Promise<string> {
  const checkoutIntentId = newId("checkoutIntent");
  await database()
    .insert(checkoutIntents)
    .values({
      checkoutIntentId,
      organizationId: "org_1",
      environment: "sandbox",
      ownerSubjectId: "sa_1",
      domain: "shop.example.com",
      storefrontUrl: "https://shop.example.com",
      mandateStatus: "no_mandate",
      canonicalBasket: { sellerId: "shop.example.com", asset: "USDC", lines: [] },
      basketHash: checkoutIntentId,
      amount: atomicOf(1n),
      asset: "USDC",
      chain: "eip155:84532",
      payTo: address,
      tokenAddress: address,
      tokenDecimals: 6,
      createsFulfillmentOrder: true,
      status,
      expiresAt: new Date(),
    });
  return checkoutIntentId;
}

async function refusal(from: CheckoutStatus, to: CheckoutStatus): Promise<string | null> {
  const id = await checkoutIn(from);
  return database()
    .update(checkoutIntents)
    .set({ status: to })
    .where(eq(checkoutIntents.checkoutIntentId, id))
    .then(() => null, sqlState);
}

describe("a checkout's status", () => {
  test.each(CheckoutStatus.options)("the database accepts from %s only the listed transitions", async (from) => {
    const taken: CheckoutStatus[] = [];
    for (const to of CheckoutStatus.options) {
      if (to === from) continue;
      const refused = await refusal(from, to);
      expect([null, "23001"]).toContain(refused);
      if (refused === null) taken.push(to);
    }
    expect(taken.toSorted()).toEqual([...transitions[from]].toSorted());
  });
});
