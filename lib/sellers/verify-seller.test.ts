import { describe, expect, test } from "vitest";
import * as contract from "#lib/sellers/contract.ts";
import { verifySeller } from "#lib/sellers/verify-seller.ts";
import { ask } from "#test/asking.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { createOfficial, REASON, stopNow, type Official } from "#test/platform.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

const judge = ({ credential }: Official, id: string, verified: unknown, reason = REASON) =>
  send(contract.verifySeller, verifySeller, { as: credential, id, body: { verified, reason } });

const shop = async (domain?: string) => {
  const { credential } = await createPerson(await createOrganization("Shop"));
  return newSeller(credential, { price: "0.5", ...(domain !== undefined && { domain }) });
};

describe("verifySeller", () => {
  test("verifying a seller, and undoing it, apply to the next payment of a mandate that requires verified sellers", async () => {
    const operator = await createOfficial("operator");
    const buyer = await createBuyer();
    const seller = await shop();
    const paying: Buyer = { ...buyer, resource: { ...buyer.resource, ...seller, payTo: seller.payTo } };
    const mandateId = await activeMandate(buyer.person.credential, { policy: { ...policy, requireVerifiedSeller: true } });
    const outcome = async () => (await ask(paying, mandateId)).data.policyDecision.outcome;
    expect(await outcome()).toBe("deny");
    expect((await judge(operator, seller.sellerId, true)).data).toMatchObject({ sellerId: seller.sellerId, verified: true });
    expect(await outcome()).toBe("allow");
    expect((await judge(operator, seller.sellerId, false)).data.verified).toBe(false);
    expect(await outcome()).toBe("deny");
    const events = await eventsAbout(seller.sellerId);
    expect(events.slice(-2)).toMatchObject([
      { type: "seller.verified", actorId: operator.userId, metadata: { reason: REASON, domain: seller.domain } },
      { type: "seller.unverified", metadata: { reason: REASON } },
    ]);
  });

  test("409 for a domain of another organization, and for a stopped seller", async () => {
    const operator = await createOfficial("operator");
    const [one, two] = [await shop("twice.example.com"), await shop("twice.example.com")];
    expect((await judge(operator, one.sellerId, true)).status).toBe(200);
    expect((await judge(operator, two.sellerId, true)).problem.code).toBe("conflict");
    await stopNow(operator, { sellerId: two.sellerId });
    expect((await judge(operator, two.sellerId, true)).problem.detail).toContain("stopped");
  });

  test("400 points at verified and reason, 404 for an unknown seller", async () => {
    const operator = await createOfficial("operator");
    expect((await judge(operator, "sel_x", "yes")).problem.errors?.[0]?.pointer).toBe("/verified");
    expect((await judge(operator, "sel_x", true, "")).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await judge(operator, "sel_x", true)).status).toBe(404);
  });
});
