import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { waivers } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { authorizeBatch } from "#lib/payments/authorize-batch.ts";
import * as payments from "#lib/payments/contract.ts";
import { simulatePayment } from "#lib/payments/simulate-payment.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { itemOf, tally } from "#test/batches.ts";
import { approve, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, authorize, createBuyer, eventsOf, type Buyer } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { createAgent, createOrganization, createPerson, createResource, send } from "#test/tenant.ts";
import { allowOnce, setVerified } from "#test/waivers.ts";

useDatabase();

let buyer: Buyer;
beforeEach(async () => {
  buyer = await createBuyer({ price: "2" });
  await setVerified(buyer.resource.sellerId);
});

const budgets = [{ period: "day", timezone: "UTC", amount: "3" }];
const mandateWith = (rules: Record<string, unknown> = {}, amount = "3") =>
  activeMandate(buyer.person.credential, {
    policy: { assets, limits: { perPayment: "1", budgets: [{ ...budgets[0], amount }] }, ...rules },
  });

async function refused(mandateId: string, by: Parameters<typeof authorize>[0] = buyer): Promise<string> {
  const { authorizationId, policyDecision } = await authorize(by, mandateId, "2");
  expect(policyDecision.outcome).toBe("deny");
  return authorizationId;
}

const paidBefore = (mandateId: string, sellerId: string) =>
  database().insert(mandateSellers).values({ mandateId, sellerId, firstPaidAt: new Date() });

const allow = (authorizationId: string, key?: string) => allowOnce(buyer.person.credential, authorizationId, key);
const outcome = async (mandateId: string, by: Parameters<typeof authorize>[0] = buyer) =>
  (await authorize(by, mandateId, "2")).policyDecision.outcome;
const read = async (authorizationId: string) =>
  (await send(payments.getPayment, getPayment, { as: buyer.person.credential, id: authorizationId })).data;

describe("a refused payment that a person allows once", () => {
  test("is not allowed while a hundred others of the mandate are open", async () => {
    const mandateId = await mandateWith({}, "9");
    const [first, authorizationId] = [await refused(mandateId), await refused(mandateId)];
    await allow(first);
    await database().execute(sql`INSERT INTO waivers
      SELECT (jsonb_populate_record(w, jsonb_build_object('waiver_id', w.waiver_id || n, 'authorization_id', w.authorization_id || n))).*
      FROM waivers w, generate_series(1, 99) n WHERE authorization_id = ${first}`);
    expect(await allow(authorizationId)).toMatchObject({ status: 409, data: { code: "conflict" } });
    await database().execute(sql`UPDATE waivers SET expires_at = statement_timestamp() WHERE waiver_id LIKE '%99'`);
    expect((await allow(authorizationId)).status).toBe(200);
  });

  test("is allowed once when the agent requests it again, and the mandate does not change", async () => {
    const mandateId = await mandateWith({}, "9");
    const authorizationId = await refused(mandateId);
    const { status, data } = await allow(authorizationId);
    expect([status, data.waiver.usedByAuthorizationId]).toEqual([200, undefined]);
    const { outcome: simulated } = await simulatePayment({ ...itemOf(buyer, mandateId, { amount: "2" }) });
    expect(simulated).toBe("deny");
    const again = await authorize(buyer, mandateId, "2");
    expect(again.policyDecision).toMatchObject({ outcome: "allow", reservationId: expect.any(String) as string });
    expect(again.policyDecision.reasons).toContainEqual(
      expect.objectContaining({
        rule: "limits.perPayment",
        effect: "allow",
        message: "A person allowed this one payment of 2.00 USDC, above the limit of 1.00 USDC per payment.",
      }),
    );
    expect(await outcome(mandateId)).toBe("deny");
    expect((await read(authorizationId)).waiver).toEqual({
      ...data.waiver,
      usedByAuthorizationId: again.authorizationId,
    });
    expect((await read(authorizationId)).authorization.policyDecision.outcome).toBe("deny");
    const mandate = await send(mandates.getMandate, getMandate, { as: buyer.person.credential, id: mandateId });
    expect(mandate.data).toMatchObject({ version: 1, policy: { limits: { perPayment: "1" } } });
    expect(await eventsOf(authorizationId)).toMatchObject([
      { type: "payment.denied" },
      {
        type: "payment.allowedOnce",
        actorId: buyer.person.userId,
        metadata: { waiverId: data.waiver.waiverId, mandateId, policyVersion: 1, chargedAtomic: "2000000" },
      },
    ]);
    expect(await brokenSums()).toEqual([]);
  });

  test("is allowed only for the same agent, seller and resource", async () => {
    const mandateId = await mandateWith({}, "9");
    expect((await allow(await refused(mandateId))).status).toBe(200);
    const other = { ...buyer, agent: await createAgent(buyer.organizationId, ["payments:authorize"]) };
    expect(await outcome(mandateId, other)).toBe("deny");
    const elsewhere = { ...buyer, resource: await createResource(await createOrganization("Shop"), "2") };
    await setVerified(elsewhere.resource.sellerId);
    expect(await outcome(mandateId, elsewhere)).toBe("deny");
    expect(await outcome(await mandateWith({}, "9"))).toBe("deny");
    expect(await outcome(mandateId)).toBe("allow");
  });

  test("stays within the budget, and a refusal does not use the waiver", async () => {
    const mandateId = await mandateWith();
    const [first, second] = [await refused(mandateId), await refused(mandateId)];
    expect([(await allow(first)).status, (await allow(second)).status]).toEqual([200, 200]);
    expect(await outcome(mandateId)).toBe("allow");
    const { denialCode } = (await authorize(buyer, mandateId, "2")).policyDecision;
    expect(denialCode).toBe("per_payment_limit_exceeded");
    const unused = (await Promise.all([first, second].map(read))).filter(({ waiver }) => !waiver?.usedByAuthorizationId);
    expect(unused).toHaveLength(1);
    expect(await brokenSums()).toEqual([]);
  });

  test("is refused again after an hour, and after a change of the mandate", async () => {
    const mandateId = await mandateWith({}, "9");
    const { data } = await allow(await refused(mandateId));
    await database().update(waivers).set({ expiresAt: past }).where(eq(waivers.waiverId, data.waiver.waiverId));
    expect(await outcome(mandateId)).toBe("deny");
    await allow(await refused(mandateId));
    const body = { name: "Renamed" };
    await send(mandates.updateMandate, updateMandate, { as: buyer.person.credential, id: mandateId, body });
    expect(await outcome(mandateId)).toBe("deny");
  });

  test("is allowed under the mandate's current version if the mandate changed between the refusal and the waiver", async () => {
    const mandateId = await mandateWith({}, "9");
    const authorizationId = await refused(mandateId);
    const body = { name: "Renamed" };
    await send(mandates.updateMandate, updateMandate, { as: buyer.person.credential, id: mandateId, body });
    expect((await allow(authorizationId)).data.waiver.policyVersion).toBe(2);
    expect(await outcome(mandateId)).toBe("allow");
  });

  test("still asks a person if the mandate asks about each payment, and can then be approved", async () => {
    const mandateId = await mandateWith({ approval: { mode: "always" } }, "9");
    const denied = await refused(mandateId);
    await allow(denied);
    const asked = await authorize(buyer, mandateId, "2");
    expect(asked.policyDecision.outcome).toBe("requireApproval");
    const checkoutIntentId =
      asked.policyDecision.reasons
        .find(({ href }) => href)
        ?.href?.split("/")
        .at(-1) ?? "";
    await view(checkoutIntentId, buyer.person.credential);
    await paidBefore(mandateId, buyer.resource.sellerId);
    expect((await approve(checkoutIntentId, buyer.person.credential)).problem.code).toBeUndefined();
    expect((await read(denied)).waiver?.usedByAuthorizationId).toBe(asked.authorizationId);
    expect(await brokenSums()).toEqual([]);
  });

  test("is refused if the mandate is suspended or the seller is no longer verified", async () => {
    const mandateId = await mandateWith({}, "9");
    await allow(await refused(mandateId));
    await setVerified(buyer.resource.sellerId, false);
    expect(await outcome(mandateId)).toBe("deny");
    await setVerified(buyer.resource.sellerId);
    await send(mandates.suspendMandate, suspendMandate, { as: buyer.person.credential, id: mandateId });
    expect(await outcome(mandateId)).toBe("deny");
  });
});

describe("allowPaymentOnce answers 409 or 404 for", () => {
  const conflict = { status: 409, problem: { code: "conflict" } };

  test("a seller that is not verified, an entry of a deny list, or more than the budget has left", async () => {
    await setVerified(buyer.resource.sellerId, false);
    expect(await allow(await refused(await mandateWith()))).toMatchObject(conflict);
    await setVerified(buyer.resource.sellerId);
    expect(await allow(await refused(await mandateWith({ sellers: { deny: [buyer.resource.sellerId] } })))).toMatchObject(
      conflict,
    );
    expect(await allow(await refused(await mandateWith({}, "1.5")))).toMatchObject(conflict);
  });

  test("a payment that was not refused, one of a paused mandate, or one of another organization", async () => {
    const wide = await activeMandate(buyer.person.credential, { policy: { assets, limits: { perPayment: "2", budgets } } });
    expect(await allow((await authorize(buyer, wide, "2")).authorizationId)).toMatchObject(conflict);
    const mandateId = await mandateWith();
    const authorizationId = await refused(mandateId);
    expect(await allowOnce(buyer.foreign, authorizationId)).toMatchObject({ status: 404 });
    expect(await allow(newId("authorization"))).toMatchObject({ status: 404 });
    const approver = await createPerson(buyer.organizationId, "approver");
    expect(await allowOnce(approver.credential, authorizationId)).toMatchObject({ status: 403 });
    expect(await allowOnce(buyer.agent.credential, authorizationId)).toMatchObject({ status: 403 });
    await send(mandates.suspendMandate, suspendMandate, { as: buyer.person.credential, id: mandateId });
    expect(await allow(authorizationId)).toMatchObject(conflict);
    expect(await database().select().from(waivers).where(eq(waivers.mandateId, mandateId))).toEqual([]);
  });
});

describe("requests at the same time", () => {
  test("several people who allow the same payment create one waiver, and a retry gets the same bytes", async () => {
    const mandateId = await mandateWith({}, "9");
    const authorizationId = await refused(mandateId);
    const colleague = await createPerson(buyer.organizationId, "admin");
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => allow(authorizationId, "same")),
      ...Array.from({ length: 4 }, () => allowOnce(colleague.credential, authorizationId)),
    ]);
    const [one] = await database().select().from(waivers).where(eq(waivers.authorizationId, authorizationId));
    const made = replies.filter(({ status }) => status === 200);
    expect(made.length).toBeGreaterThan(0);
    for (const { status, data, problem } of replies) {
      if (status === 200) expect(data.waiver.waiverId).toBe(one?.waiverId);
      else expect(problem.code).toBe("idempotency_in_flight");
    }
    expect((await eventsOf(authorizationId)).filter(({ type }) => type === "payment.allowedOnce")).toHaveLength(1);
    const [first, second] = [await allow(authorizationId, "same"), await allow(authorizationId, "same")];
    expect(second.data).toEqual(first.data);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  test("a waiver is used once, also by batches of several processes", async () => {
    for (let round = 0; round < 4; round += 1) {
      const mandateId = await mandateWith({}, "99");
      expect((await allow(await refused(mandateId))).status).toBe(200);
      // Each call decides two payments in a separate transaction, as a batch of another process would.
      const two = () => authorizeBatch([1, 2].map(() => itemOf(buyer, mandateId, { amount: "2" })));
      const answers = await Promise.all(Array.from({ length: 6 }, two));
      expect(tally(answers.flat())).toEqual({ allow: 1, deny: 11 });
      expect(await brokenSums()).toEqual([]);
    }
  });
});
