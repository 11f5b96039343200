import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { approve, callerOf, checkoutScene, open, previewed, read, reject, reviewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newMember } from "#test/identity.ts";
import { activeMandate } from "#test/mandates.ts";
import { useCheckout } from "#test/open-checkout.ts";

useDatabase();

const checkout = useCheckout();

describe("viewCheckout", () => {
  test("shows payee, agent, amounts, basket, destination, mandates and effects from the service's own records", async () => {
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

  test("records what this session was shown, and says what the session was shown before", async () => {
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

  test("a member with only the right to read sees the checkout, cannot decide, and no record is made that they saw it", async () => {
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
    expect(seen).toMatchObject({ intent: { status: "approved" }, approval: { status: "pending" } });
    // After the approval, the page shows only the budget of the mandate that pays.
    expect(seen.mandates).toMatchObject([{ mandateId: checkout.mandateId, budgets: [{ limit: "500", available: "475" }] }]);
    expect(seen.authorizationId).toMatch(/^aut_/);
    expect(JSON.stringify(seen)).not.toContain(token);
  });

  test("names the rule that asked and its limit, and shows the agent's purpose", async () => {
    const { person, agent, shop } = checkout;
    const approval = { mode: "above", amount: "10" };
    const mandateId = await activeMandate(person.credential, { policy: { ...open, approval } });
    const metadata = { purpose: " Welcome gift\nfor the team " };
    const id = await previewed(shop, agent.credential, { mandateId, metadata });
    const seen = await view(id, person.credential);
    expect(seen.purpose).toBe("Welcome gift for the team");
    expect(seen.mandates.find((one) => one.mandateId === mandateId)?.asks).toEqual([
      { rule: "above", limit: "10", unit: "USDC" },
    ]);
    expect(seen.mandates.find((one) => one.mandateId === checkout.mandateId)?.asks).toEqual([]);
    expect((await view(checkout.id, person.credential)).purpose).toBeUndefined();
  });

  test("after the decision it says who decided and why", async () => {
    await view(checkout.id, checkout.person.credential);
    await reject(checkout.id, checkout.person.credential, { reason: "We have enough." });
    const seen = await view(checkout.id, checkout.person.credential);
    expect(seen.decided).toEqual({ by: "Ada", reason: "We have enough." });
  });
});

describe("the payee", () => {
  const paid = (mandateId: string, sellerId: string, firstPaidAt: Date) =>
    database().insert(mandateSellers).values({ mandateId, sellerId, firstPaidAt });

  test("is new to an organization that never paid it", async () => {
    const { payee } = await view(checkout.id, checkout.person.credential);
    expect(payee.history).toEqual({ paid: 0, all: true, declined: 0, refused: 0 });
    expect(payee.looksLike).toBeUndefined();
  });

  test("has the time of its first payment, and its declined requests are counted", async () => {
    const { person, shop, mandateId, agent } = checkout;
    const since = new Date("2026-08-03T10:00:00Z");
    await paid(mandateId, `${shop.domain} ${shop.payTo.toLowerCase()}`, since);
    await view(checkout.id, person.credential);
    await reject(checkout.id, person.credential);
    const again = await previewed(shop, agent.credential, { items: [{ productId: "tee", variantId: "tee-m", quantity: 3 }] });
    const { payee } = await view(again, person.credential);
    expect(payee.history).toEqual({ paid: 0, all: true, since: since.toISOString(), declined: 1, refused: 0 });
  });

  test("that looks like a payee that the same organization has paid is marked; payees of other organizations do not count", async () => {
    const { person, mandateId, id } = checkout;
    const other = await checkoutScene();
    const address = "0x7a3f19bc24e05d8816a2fb93d07c5e41b92ac41d";
    const disguise = (domain: string) =>
      database().update(checkoutIntents).set({ domain }).where(eq(checkoutIntents.checkoutIntentId, id));
    await disguise("arnazon.example");
    await paid(other.mandateId, `amazon.example ${address}`, new Date());
    expect((await view(id, person.credential)).payee.looksLike).toBeUndefined();
    await paid(mandateId, `amazon.example ${address}`, new Date());
    expect((await view(id, person.credential)).payee).toMatchObject({ domain: "arnazon.example", looksLike: "amazon.example" });
    await disguise("larkfield.example");
    expect((await view(id, person.credential)).payee.looksLike).toBeUndefined();
  });
});
