import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { sweepCheckouts } from "#lib/commerce/sweep-checkouts.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { reservations } from "#lib/holds/tables.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { approve, cancel, expire, read, reject, reviewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, eventsOf } from "#test/mandates.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  readPayment,
  signed,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();

const wallet = newWallet();
const asking = {
  assets,
  limits: { perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount: "5" }] },
  approval: { mode: "always" },
};

async function newScene() {
  const person = await newOrganization();
  const agent = await newKey(person);
  const owner = await newOrganization({ productRoles: ["seller"], name: "Shop" });
  const seller = await newSeller(owner.credential, { price: "0.25", payTo: randomAddress() });
  const mandateId = await activeMandate(person.credential, { policy: asking });
  const { organizationId } = person;
  return {
    organizationId,
    person,
    agent,
    seller,
    sellerOrganizationId: owner.organizationId,
    owner,
    mandateId,
  } satisfies PaymentScene & {
    agent: unknown;
  };
}

let scene: Awaited<ReturnType<typeof newScene>>;
beforeAll(() => chain().mint(wallet.address, 100_000_000n));
beforeEach(async () => {
  scene = await newScene();
});
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

const linkOf = ({ policyDecision }: Awaited<ReturnType<typeof authorized>>) =>
  policyDecision.reasons.find((reason) => reason.effect === "approval")?.href ?? "";
const checkoutOf = (authorization: Awaited<ReturnType<typeof authorized>>) => linkOf(authorization).split("/").at(-1) ?? "";
const holds = () => database().select().from(reservations).where(eq(reservations.mandateId, scene.mandateId));
const credential = () => signed(wallet, expectedOf(scene));

describe("the approval of a payment that was authorized", () => {
  test("requireApproval opens one checkout with one line, and its link is in the reason", async () => {
    const authorization = await authorized(scene);
    expect(authorization.policyDecision.outcome).toBe("requireApproval");
    const checkoutIntentId = checkoutOf(authorization);
    expect(linkOf(authorization)).toBe(`${env().BASE_URL}/checkout/${checkoutIntentId}`);
    const { data } = await read(checkoutIntentId, scene.agent.credential);
    expect(data.intent).toMatchObject({
      ownerSubjectId: scene.agent.serviceAccountId,
      sellerId: scene.seller.sellerId,
      storefrontUrl: `https://${scene.seller.domain}`,
      mandateId: scene.mandateId,
      mandateStatus: "approval_required",
      status: "awaiting_approval",
      amount: "0.25",
      displayAmount: "0.25 USDC",
      payTo: scene.seller.payTo,
      effects: { movesFunds: true, createsFulfillmentOrder: false, settlement: "none" },
      canonicalBasket: {
        sellerId: scene.seller.sellerId,
        lines: [{ productId: "report", name: "GET /report", quantity: 1, unitAmount: "0.25" }],
      },
    });
    expect(data.mandates).toMatchObject([{ mandateId: scene.mandateId, match: true }]);
    expect(await holds()).toMatchObject([{ status: "held", amount: 250_000n }]);
  });

  test("a second authorize gets its own decision with the same link, and no second hold", async () => {
    const first = await authorized(scene);
    const second = await authorized(scene);
    expect(second.authorizationId).not.toBe(first.authorizationId);
    expect(linkOf(second)).toBe(linkOf(first));
    expect(second.policyDecision.reservationId).toBeUndefined();
    expect(await holds()).toHaveLength(1);
    const reply = await execute(scene, { authorizationId: second.authorizationId, paymentCredential: await credential() });
    expect(reply.problem).toMatchObject({
      code: "approval_required",
      nextActions: [{ href: linkOf(first), metadata: { authorizationId: first.authorizationId } }],
    });
    const many = await Promise.all(Array.from({ length: 10 }, () => authorized(scene)));
    expect(new Set(many.map(linkOf))).toEqual(new Set([linkOf(first)]));
    expect(await database().select().from(checkoutIntents).where(eq(checkoutIntents.mandateId, scene.mandateId))).toHaveLength(1);
  });

  test("an agent whose basket another agent asked for first gets the link to wait, and no next call", async () => {
    const first = await authorized(scene);
    const other = { ...scene, agent: await newKey(scene.person) };
    const second = await authorized(other);
    const askingOf = ({ policyDecision }: typeof first) => policyDecision.reasons.find(({ effect }) => effect === "approval");
    const { next, ...waits } = askingOf(first) ?? {};
    expect(next?.body).toMatchObject({ authorizationId: first.authorizationId });
    expect(askingOf(second)).toEqual(waits);
  });

  test("execute is 403 with the link, and after the approval it pays under the same authorization", async () => {
    const { authorizationId, ...authorization } = await authorized(scene);
    const checkoutIntentId = checkoutOf({ authorizationId, ...authorization });
    const early = await execute(scene, { authorizationId, paymentCredential: await credential() });
    expect(early.problem).toMatchObject({
      status: 403,
      code: "approval_required",
      nextActions: [{ type: "approve_checkout", href: `${env().BASE_URL}/checkout/${checkoutIntentId}` }],
    });
    await reviewed(checkoutIntentId, scene.person);
    const { status, data } = await approve(checkoutIntentId, scene.person.credential);
    expect([status, data.intent.status]).toEqual([200, "approved"]);
    expect(await holds()).toMatchObject([{ status: "held", approvalKey: null, amount: 250_000n }]);
    const paid = await execute(scene, { authorizationId, paymentCredential: await credential() });
    expect(paid.data.settlementStatus).toBe("pending");
    expect(await holds()).toMatchObject([{ status: "submitted" }]);
    const seen = await read(checkoutIntentId, scene.agent.credential);
    expect(seen.data).toMatchObject({
      intent: { status: "executing", effects: { settlement: "authorized" } },
      approval: { status: "consumed", continuationTokenStatus: "redeemed", authorizationId },
    });
    expect(seen.data.continuationToken).toBeUndefined();
    const again = await execute(scene, { authorizationId, paymentCredential: await credential() });
    expect(again.problem.code).toBe("authorization_consumed");
    const events = await eventsOf(data.approval.continuationTokenId ?? "");
    expect(events.map(({ type }) => type)).toEqual(["continuation.minted", "continuation.redeemed"]);
  });

  test("a credential that fails before submission leaves the approved payment usable", async () => {
    const authorization = await authorized(scene);
    await reviewed(checkoutOf(authorization), scene.person);
    await approve(checkoutOf(authorization), scene.person.credential);
    const { authorizationId } = authorization;
    const failed = await execute(scene, { authorizationId, paymentCredential: await signed(newWallet(), expectedOf(scene)) });
    expect(failed.problem.code).toBe("insufficient_funds");
    expect((await execute(scene, { authorizationId, paymentCredential: await credential() })).data.settlementStatus).toBe(
      "pending",
    );
  });

  test("after a rejection the hold is released and execute is 403 approval_rejected", async () => {
    const authorization = await authorized(scene);
    await view(checkoutOf(authorization), scene.person.credential);
    const { data } = await reject(checkoutOf(authorization), scene.person.credential, { reason: "Too often." });
    expect(data.intent.status).toBe("rejected");
    expect(await holds()).toMatchObject([{ status: "released" }]);
    const { authorizationId } = authorization;
    const reply = await execute(scene, { authorizationId, paymentCredential: await credential() });
    expect([reply.status, reply.problem.code]).toEqual([403, "approval_rejected"]);
    expect((await eventsOf(checkoutOf(authorization))).at(-1)).toMatchObject({
      type: "checkout.rejected",
      metadata: { reason: "Too often." },
    });
  });

  test("canceling releases the hold, before and after the approval, and only by the agent that asked", async () => {
    const other = await newKey(scene.person);
    for (const approved of [false, true]) {
      const authorization = await authorized(scene);
      const checkoutIntentId = checkoutOf(authorization);
      if (approved) {
        await reviewed(checkoutIntentId, scene.person);
        await approve(checkoutIntentId, scene.person.credential);
      }
      expect((await cancel(checkoutIntentId, other.credential)).problem.code).toBe("forbidden");
      expect((await cancel(checkoutIntentId, scene.agent.credential)).data.intent.status).toBe("canceled");
      const reply = await execute(scene, {
        authorizationId: authorization.authorizationId,
        paymentCredential: await credential(),
      });
      expect(reply.problem.code).toBe("authorization_expired");
      expect(reply.problem.detail).toMatch(/^This request was canceled before it was paid\. Nothing was paid\./);
    }
    expect((await holds()).map(({ status }) => status)).toEqual(["released", "released"]);
  });

  test("an approval under another mandate is refused, because this one holds the amount", async () => {
    const authorization = await authorized(scene);
    const other = await activeMandate(scene.person.credential, { policy: asking });
    await reviewed(checkoutOf(authorization), scene.person);
    const reply = await approve(checkoutOf(authorization), scene.person.credential, { mandateId: other });
    expect([reply.status, reply.problem.code]).toEqual([409, "no_matching_mandate"]);
  });

  test("the payment's own hold is not counted twice: a budget for exactly this payment is enough", async () => {
    const tight = {
      ...asking,
      limits: { perPayment: "0.25", total: "0.25", counts: [{ period: "day", timezone: "UTC", max: 1 }], cooldownSeconds: 3600 },
    };
    scene = { ...scene, mandateId: await activeMandate(scene.person.credential, { policy: tight }) };
    const authorization = await authorized(scene);
    await reviewed(checkoutOf(authorization), scene.person);
    expect((await approve(checkoutOf(authorization), scene.person.credential)).status).toBe(200);
  });

  test("an approval that is not used in time ends together with its hold", async () => {
    const authorization = await authorized(scene);
    const checkoutIntentId = checkoutOf(authorization);
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    await database().execute(sql`ALTER TABLE checkout_approvals DISABLE TRIGGER USER`);
    await database()
      .update(checkoutApprovals)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` });
    await database().execute(sql`ALTER TABLE checkout_approvals ENABLE TRIGGER USER`);
    const { authorizationId } = authorization;
    expect((await execute(scene, { authorizationId, paymentCredential: await credential() })).problem.code).toBe(
      "authorization_expired",
    );
    await sweepCheckouts();
    const { data } = await read(checkoutIntentId, scene.agent.credential);
    expect(data).toMatchObject({
      intent: { status: "expired" },
      approval: { status: "expired", continuationTokenStatus: "expired" },
    });
    expect(await holds()).toMatchObject([{ status: "expired" }]);
    expect((await eventsOf(checkoutIntentId)).at(-1)).toMatchObject({ type: "checkout.expired", actorId: "service" });
  });

  test("a checkout without a decision is canceled after its mandate was revoked, so that its agent stops waiting", async () => {
    const checkoutIntentId = checkoutOf(await authorized(scene));
    await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId, body: {} });
    await sweepCheckouts();
    expect((await read(checkoutIntentId, scene.agent.credential)).data.intent.status).toBe("canceled");
    expect(await holds()).toMatchObject([{ status: "released" }]);
    expect((await eventsOf(checkoutIntentId)).at(-1)).toMatchObject({ type: "checkout.canceled", actorId: "service" });
    expect(await sweepCheckouts()).toBe(0);
  });

  test("a checkout without a decision ends together with its hold, and the agent reads that nobody declined it", async () => {
    const authorization = await authorized(scene);
    const checkoutIntentId = checkoutOf(authorization);
    await expire(checkoutIntentId);
    const request = { authorizationId: authorization.authorizationId, paymentCredential: await credential() };
    const early = await execute(scene, request);
    await sweepCheckouts();
    expect((await read(checkoutIntentId, scene.agent.credential)).data.intent.status).toBe("expired");
    expect(await holds()).toMatchObject([{ status: "expired" }]);
    expect(await sweepCheckouts()).toBe(0);
    for (const { status, problem } of [early, await execute(scene, request)])
      expect([status, problem.code, problem.actor]).toEqual([410, "approval_expired", "agent"]);
    expect((await eventsOf(checkoutIntentId)).at(-1)).toMatchObject({ type: "checkout.expired", actorId: "service" });
    const again = await authorized(scene);
    expect([again.policyDecision.outcome, checkoutOf(again) === checkoutIntentId]).toEqual(["requireApproval", false]);
  });

  test("revoking a mandate ends the approvals under it", async () => {
    const authorization = await authorized(scene);
    const checkoutIntentId = checkoutOf(authorization);
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId });
    const { authorizationId } = authorization;
    expect((await execute(scene, { authorizationId, paymentCredential: await credential() })).problem.code).toBe(
      "mandate_revoked",
    );
    await sweepHolds();
    await sweepCheckouts();
    expect((await read(checkoutIntentId, scene.agent.credential)).data).toMatchObject({
      intent: { status: "canceled" },
      approval: { status: "revoked", continuationTokenStatus: "revoked" },
    });
  });

  test("getPayment returns the approval", async () => {
    const authorization = await authorized(scene);
    await reviewed(checkoutOf(authorization), scene.person);
    await approve(checkoutOf(authorization), scene.person.credential);
    const { data } = await readPayment(scene, authorization.authorizationId);
    expect(data.approval).toMatchObject({ status: "pending", checkoutIntentId: checkoutOf(authorization) });
  });
});
