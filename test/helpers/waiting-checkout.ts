import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf } from "#lib/money.ts";

/** Inserts a checkout that waits for its buyer, without a shop. */
export async function waitingCheckout(organizationId: string, ownerSubjectId: string, basketHash: string): Promise<string> {
  const checkoutIntentId = newId("checkoutIntent");
  const address = `0x${"5a".repeat(20)}`;
  await database()
    .insert(checkoutIntents)
    .values({
      checkoutIntentId,
      organizationId,
      environment: "sandbox",
      ownerSubjectId,
      domain: "shop.example.com",
      storefrontUrl: "https://shop.example.com",
      mandateStatus: "no_mandate",
      canonicalBasket: { sellerId: "shop.example.com", asset: "USDC", lines: [] },
      basketHash,
      amount: atomicOf(1n),
      asset: "USDC",
      chain: "eip155:84532",
      payTo: address,
      tokenAddress: address,
      tokenDecimals: 6,
      createsFulfillmentOrder: true,
      status: "awaiting_approval",
      expiresAt: new Date(Date.now() + 600_000),
    });
  return checkoutIntentId;
}
