import { describe, expect, test } from "vitest";
import { viewCheckout } from "#lib/pages/buyer/view-checkout.ts";
import { viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { callerOf } from "#test/checkouts.ts";
import { createAgent } from "#test/tenant.ts";
import { viewPayment } from "#lib/pages/buyer/view-payment.ts";
import { useDatabase } from "#test/database.ts";
import { assets } from "#test/mandates.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";

useDatabase();
const chain = useSettlement();

describe("viewPayment", () => {
  test("explains an executed payment from intent to settlement, without its signed credential", async () => {
    const scene = await paymentScene();
    const wallet = newWallet();
    await chain().mint(wallet.address, 1_000_000n);
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    await execute(scene, { authorizationId, paymentCredential });
    const view = await viewPayment({ organizationId: scene.organizationId, environment: "sandbox" }, authorizationId);
    expect(view).toMatchObject({
      stage: { of: "settlement", status: "pending" },
      asker: { subjectId: scene.agent.serviceAccountId, isServiceAccount: true },
      mandate: { mandateId: scene.mandateId, policyVersion: 1, version: 1 },
      seller: { registered: true },
      amounts: { price: "0.25", serviceFee: "0", total: "0.25", sellerReceives: "0.25" },
      order: null,
      checkout: null,
      transaction: null,
    });
    expect(view.requestId).toMatch(/^req_/);
    expect(view.timeline.map(({ title }) => title)).toEqual([
      "Authorized",
      "Reserved",
      "Executed",
      "Waits for the seller",
      "Settlement",
    ]);
    expect(JSON.stringify(view)).not.toContain("PAYMENT-SIGNATURE");
  });

  test("links to the page where a person decides, with the path only and never the stored host", async () => {
    const policy = { assets, limits: { perPayment: "1", total: "10" }, approval: { mode: "always" } };
    const scene = await paymentScene({ mandate: { policy } });
    const { authorizationId } = await authorized(scene);
    const view = await viewPayment({ organizationId: scene.organizationId, environment: "sandbox" }, authorizationId);
    expect(view).toMatchObject({ stage: { of: "outcome", status: "requireApproval" }, checkout: { waits: true } });
    expect(view.confirmPath).toBe(`/checkout/${view.checkout?.checkoutIntentId}`);
  });

  test("a payment that another agent asked for is answered with that agent's request, linked both ways", async () => {
    const policy = { assets, limits: { perPayment: "1", total: "10" }, approval: { mode: "always" } };
    const scene = await paymentScene({ mandate: { policy } });
    const scope = { organizationId: scene.organizationId, environment: "sandbox" } as const;
    const agent = await createAgent(scene.organizationId, ["payments:authorize"]);
    const first = await authorized(scene);
    const second = await authorized({ ...scene, agent });
    const again = await authorized(scene);
    const view = await viewPayment(scope, second.authorizationId);
    expect(view.stage).toEqual({ of: "repeat", status: "otherAgentsRequest" });
    expect(view.timeline.map(({ title }) => title)).toEqual(["Asked for approval", "Answered with another agent’s request"]);
    const own = await viewPayment(scope, first.authorizationId);
    expect(view.repeats).toEqual({ authorizationId: first.authorizationId, asker: own.asker });
    expect(own).toMatchObject({ repeats: null, stage: { of: "outcome", status: "requireApproval" } });
    expect(own.repeatedBy).toEqual([
      { authorizationId: second.authorizationId, asker: view.asker },
      { authorizationId: again.authorizationId, asker: own.asker },
    ]);
    const listed = await viewPayments(scope, {}, { limit: 10 });
    expect(listed.items.map(({ stage }) => stage.status)).toEqual(["earlierRequest", "otherAgentsRequest", "requireApproval"]);
    const asked = await viewCheckout(
      { checkoutIntentId: own.checkout?.checkoutIntentId ?? "" },
      await callerOf(scene.person.credential),
    );
    expect(asked.alsoAsked).toEqual(own.repeatedBy);
  });

  test("404 for a payment of another organization, and of another environment", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const other = await paymentScene();
    const reads = [
      { organizationId: other.organizationId, environment: "sandbox" },
      { organizationId: scene.organizationId, environment: "production" },
    ];
    for (const scope of reads) await expect(viewPayment(scope, authorizationId)).rejects.toMatchObject({ code: "not_found" });
  });
});
