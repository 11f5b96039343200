import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { approve, callerOf, read, reviewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newMember } from "#test/identity.ts";
import { useCheckout } from "#test/open-checkout.ts";

useDatabase();

const checkout = useCheckout();

describe("viewCheckout", () => {
  test("shows payee, agent, amounts, basket, destination, mandates and effects from our own records", async () => {
    const seen = await view(checkout.id, checkout.person.credential);
    expect(seen).toMatchObject({
      intent: { checkoutIntentId: checkout.id, status: "awaiting_approval" },
      payee: { domain: checkout.shop.domain, registered: false, verified: false },
      agent: { subjectId: checkout.agent.serviceAccountId, name: "Agent", active: true },
      organization: { organizationId: checkout.person.organizationId, name: "Acme" },
      amounts: { total: "25.00 USDC", fee: { amount: "0", display: "0.00 USDC" }, charged: "25.00 USDC" },
      lines: [{ name: "T-shirt", quantity: 2, displayUnitAmount: "12.50 USDC", displaySubtotal: "25.00 USDC" }],
      destination: { payTo: checkout.shop.payTo, chain: "eip155:84532", tokenName: "USDC" },
      stepUp: { required: true, reasons: ["firstPayment"], done: false },
      mayDecide: true,
      mandates: [
        {
          mandateId: checkout.mandateId,
          match: true,
          available: "500",
          perPayment: "100",
          obstacles: [],
          budgets: [{ window: "day UTC", limit: "500", spent: "0", heldByOthers: "0", available: "500", availableAfter: "475" }],
        },
      ],
    });
    expect(seen.amounts.rest).toBeUndefined();
    expect(seen.payee.name).toBeUndefined();
    expect(seen.before).toBeUndefined();
  });

  test("records what this session was shown, and says what it was shown before", async () => {
    await view(checkout.id, checkout.person.credential);
    const { sessionId } = await callerOf(checkout.person.credential);
    const seen = await database().select().from(checkoutReviews).where(eq(checkoutReviews.checkoutIntentId, checkout.id));
    expect(seen).toMatchObject([{ sessionId, amount: 25_000_000n, asset: "USDC", payTo: checkout.shop.payTo }]);
    expect((await view(checkout.id, checkout.person.credential)).before).toBeUndefined();
    await database()
      .update(checkoutIntents)
      .set({ amount: 26_000_000n as never })
      .where(eq(checkoutIntents.checkoutIntentId, checkout.id));
    const changed = await view(checkout.id, checkout.person.credential);
    expect(changed).toMatchObject({
      before: { displayAmount: "25.00 USDC" },
      amounts: { total: "26.00 USDC", rest: "1.00 USDC" },
    });
  });

  test("a member with only the right to read sees it, cannot decide and leaves no review", async () => {
    const viewer = await newMember(checkout.person, "viewer");
    const seen = await view(checkout.id, viewer.credential);
    expect(seen).toMatchObject({ mayDecide: false, stepUp: { required: false }, intent: { status: "previewed" } });
    const finance = await newMember(checkout.person, "finance");
    await expect(view(checkout.id, finance.credential)).rejects.toMatchObject({ code: "capability_required" });
    expect(await database().select().from(checkoutReviews).where(eq(checkoutReviews.checkoutIntentId, checkout.id))).toEqual([]);
  });

  test("after the approval it shows the approval and never the token", async () => {
    await reviewed(checkout.id, checkout.person);
    await approve(checkout.id, checkout.person.credential);
    const token = (await read(checkout.id, checkout.agent.credential)).data.continuationToken ?? "none";
    const seen = await view(checkout.id, checkout.person.credential);
    expect(seen).toMatchObject({ intent: { status: "approved" }, approval: { status: "pending" }, mandates: [] });
    expect(JSON.stringify(seen)).not.toContain(token);
  });
});
