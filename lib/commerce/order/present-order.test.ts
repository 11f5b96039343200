import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { orders } from "#lib/approvals/tables.ts";
import { presentOrder, type Snapshot } from "#lib/commerce/order/present-order.ts";
import { database } from "#lib/db/client.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import { checkoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { newOrderKey, place } from "#test/orders.ts";

useDatabase();

/** An order that waits for its signed payment. */
let waiting: Omit<Snapshot, "paymentMode" | "refused">;
beforeAll(async () => {
  const shop = await openHostileStorefront();
  const key = newOrderKey();
  await place(await checkoutScene(), shop, key);
  await shop.close();
  const [order] = await database().select().from(orders).where(eq(orders.idempotencyKey, key));
  if (!order?.authorizationId) throw new Error("The order has no authorization.");
  const authorization = await findAuthorization(database(), order, order.authorizationId);
  waiting = { order, authorization, hasWallet: true, url: "https://pay.example.com/order" };
});

describe("the instructions for the agent", () => {
  test("say of a service that signs that the agent must not sign, and name no refusal", () => {
    const shown = presentOrder({ ...waiting, paymentMode: "service7702", refused: null });
    expect(shown).toMatchObject({ status: "paymentCredentialRequired", nextAction: { type: "pollStatus" } });
    expect(shown.paymentRequired).toBeUndefined();
    expect(shown.agentInstructions).toBe(
      "The service signs this payment itself. Do not sign it. Repeat this call with the same idempotencyKey and without paymentCredential.",
    );
  });

  test.each([
    ["service7702", "pollStatus", "Repeat this call with the same idempotencyKey and without paymentCredential"],
    ["eip3009", "submitPaymentCredential", "Sign a new credential for paymentRequired"],
  ] as const)("say of a failed payment with %s what to do, and not whether it was sent", (paymentMode, type, next) => {
    const refused = { executionId: "exe_1", code: "nonce_already_used" };
    const shown = presentOrder({ ...waiting, paymentMode, refused });
    expect(shown).toMatchObject({ status: "failed", nextAction: { type }, intent: { metadata: { failureCode: refused.code } } });
    expect(shown.agentInstructions).toContain("This payment failed. The cause is in intent.metadata.failureCode.");
    expect(shown.agentInstructions).toContain(next);
    expect(shown.agentInstructions).not.toMatch(/sent|nothing was paid/i);
  });
});
