import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { offerFix, viewFix } from "#lib/pages/buyer/view-fix.ts";
import { viewRefusals } from "#lib/pages/buyer/view-refusals.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { createAgent, createOrganization, send } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
beforeEach(async () => {
  buyer = await createBuyer({ price: "2" });
});

const scopeOf = ({ organizationId }: Pick<Buyer, "organizationId">) => ({ organizationId, environment: "sandbox" as const });
const budgets = [{ period: "day", timezone: "UTC", amount: "3" }];
const mandateWith = (rules: Record<string, unknown> = {}, perPayment = "1") =>
  activeMandate(buyer.person.credential, {
    name: "Data",
    policy: { assets, limits: { perPayment, budgets }, ...rules },
  });

async function denied(mandateId: string) {
  const { authorizationId, policyDecision } = await authorize(buyer, mandateId, "2");
  expect(policyDecision.outcome).toBe("deny");
  return { authorizationId, policyDecisionId: policyDecision.policyDecisionId };
}

const save = async (mandateId: string, policy: unknown) =>
  send(mandates.updateMandate, updateMandate, { as: buyer.person.credential, id: mandateId, body: { policy } });
const verify = () => database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, buyer.resource.sellerId));

describe("the fix of a denial", () => {
  test("is the value with which the payment is allowed; once it is saved, the same request is allowed", async () => {
    const mandateId = await mandateWith();
    const { authorizationId, policyDecisionId } = await denied(mandateId);
    expect(await offerFix(scopeOf(buyer), mandateId, authorizationId)).toEqual({
      href: `/mandates/${mandateId}/edit?fix=${policyDecisionId}`,
      label: "Raise the limit per payment to 2.00 USDC",
    });
    const view = await viewFix(scopeOf(buyer), mandateId, policyDecisionId);
    expect(view).toMatchObject({ outcome: "allow", amount: "2.00 USDC", payee: buyer.resource.domain, others: [] });
    expect(view?.fix?.policy.limits).toEqual({ perPayment: "2", budgets });
    expect((await save(mandateId, view?.fix?.policy)).status).toBe(200);
    expect(await offerFix(scopeOf(buyer), mandateId, authorizationId)).toBe("passes");
    expect((await authorize(buyer, mandateId, "2")).policyDecision.outcome).toBe("allow");
  });

  test("counts today's usage, and shows which other payments would be allowed", async () => {
    const mandateId = await mandateWith({}, "3");
    await authorize(buyer, mandateId, "2");
    const first = await denied(mandateId);
    const second = await denied(mandateId);
    const view = await viewFix(scopeOf(buyer), mandateId, second.policyDecisionId);
    expect(view?.fix?.changes).toMatchObject([{ of: "budget", amount: "4" }]);
    // With the fix, the budget has room for one of the two denied payments. They are decided again in order, so the earlier
    // payment is allowed.
    expect(view?.others.map((one) => one.authorizationId)).toEqual([first.authorizationId]);
  });

  test("binds an agent that the mandate does not name, and shows its other requests", async () => {
    const other = await createAgent(buyer.organizationId, ["payments:authorize"]);
    const mandateId = await mandateWith({}, "3");
    await send(mandates.updateMandate, updateMandate, {
      as: buyer.person.credential,
      id: mandateId,
      body: { agents: [other.serviceAccountId] },
    });
    const first = await denied(mandateId);
    const { authorizationId, policyDecisionId } = await denied(mandateId);
    expect(await offerFix(scopeOf(buyer), mandateId, authorizationId)).toMatchObject({ label: "Let this agent use the mandate" });
    const view = await viewFix(scopeOf(buyer), mandateId, policyDecisionId);
    expect(view?.fix?.agents).toEqual([other.serviceAccountId, buyer.agent.serviceAccountId]);
    expect(view?.others.map((one) => one.authorizationId)).toEqual([first.authorizationId]);
  });

  test("allows a seller only if its domain is verified", async () => {
    const mandateId = await mandateWith({ sellers: { allow: [] } }, "3");
    const { authorizationId } = await denied(mandateId);
    expect(await offerFix(scopeOf(buyer), mandateId, authorizationId)).toBeNull();
    await verify();
    expect(await offerFix(scopeOf(buyer), mandateId, authorizationId)).toMatchObject({ label: "Allow this seller" });
  });

  test("is not offered for a seller that was stopped since, nor for a seller that imitates one that was paid", async () => {
    const mandateId = await mandateWith();
    const { authorizationId } = await denied(mandateId);
    const offered = () => offerFix(scopeOf(buyer), mandateId, authorizationId);
    expect(await offered()).not.toBeNull();
    const likeness = buyer.resource.domain.replace("shop-", "sh0p-");
    await database()
      .insert(mandateSellers)
      .values({ mandateId, sellerId: `${likeness} 0x1`, firstPaidAt: new Date() });
    expect(await offered()).toBeNull();
    await database().delete(mandateSellers).where(eq(mandateSellers.mandateId, mandateId));
    expect(await offered()).not.toBeNull();
    await database().update(sellers).set({ stoppedAt: new Date() }).where(eq(sellers.sellerId, buyer.resource.sellerId));
    expect(await offered()).toBeNull();
  });

  test("is not offered for an entry of a deny list, for a suspended mandate, or to another organization", async () => {
    await verify();
    const forbidding = await mandateWith({ sellers: { deny: [buyer.resource.sellerId] } });
    const refused = await denied(forbidding);
    expect(await offerFix(scopeOf(buyer), forbidding, refused.authorizationId)).toBeNull();
    const mandateId = await mandateWith();
    const { authorizationId, policyDecisionId } = await denied(mandateId);
    const foreign = scopeOf({ organizationId: await createOrganization() });
    expect(await viewFix(foreign, mandateId, policyDecisionId)).toBeNull();
    expect(await viewFix(scopeOf(buyer), forbidding, policyDecisionId)).toBeNull();
    expect(await viewFix(scopeOf(buyer), mandateId, newId("policyDecision"))).toBeNull();
    await send(mandates.suspendMandate, suspendMandate, { as: buyer.person.credential, id: mandateId });
    expect(await offerFix(scopeOf(buyer), mandateId, authorizationId)).toBeNull();
  });
});

test("the inbox groups the refusals of the last day by payee and rule, with the change for people who may make it", async () => {
  const mandateId = await mandateWith();
  const { authorizationId, policyDecisionId } = await denied(mandateId);
  const [one, ...others] = await viewRefusals(scopeOf(buyer), { manage: true });
  expect(others).toEqual([]);
  expect(one).toMatchObject({
    authorizationId,
    payee: buyer.resource.domain,
    amount: "2.00 USDC",
    asker: { name: "Agent" },
    mandate: "Data",
    why: expect.stringContaining("above the limit of 1.00 USDC per payment") as string,
    fix: { href: `/mandates/${mandateId}/edit?fix=${policyDecisionId}` },
  });
  expect(await viewRefusals(scopeOf(buyer), { manage: false })).toMatchObject([{ authorizationId, fix: null, times: 1 }]);
  const again = await denied(mandateId);
  const other = await denied(await mandateWith());
  expect(await viewRefusals(scopeOf(buyer), { manage: false })).toMatchObject([
    { authorizationId: other.authorizationId, times: 1 },
    { authorizationId: again.authorizationId, times: 2, atLeast: false },
  ]);
});
