import { eq, sql } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as audit from "#lib/audit/contract.ts";
import { auditEvents } from "#lib/audit/tables.ts";
import { verifyAudit } from "#lib/audit/verify-audit.ts";
import { checkoutApprovals, checkoutIntents, checkoutReviews, stepUps } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { reservations } from "#lib/holds/tables.ts";
import { keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import {
  ageSession,
  approve,
  cancel,
  checkoutScene,
  confirmPassword,
  expire,
  open,
  previewed,
  read,
  reject,
  reviewed,
  view,
  type CheckoutScene,
} from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey, newMember, newOrganization, signIn } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, eventsOf } from "#test/mandates.ts";
import { send } from "#test/tenant.ts";
import { Capability } from "#lib/vocabulary.ts";

useDatabase();

let shop: HostileStorefront;
let scene: CheckoutScene;
let checkoutIntentId: string;

beforeAll(async () => {
  shop = await openHostileStorefront();
  scene = await checkoutScene();
});
afterAll(() => shop.close());
beforeEach(async () => {
  scene = await checkoutScene();
  checkoutIntentId = await previewed(shop, scene.agent.credential);
});
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

const holds = () => database().select().from(reservations).where(eq(reservations.mandateId, scene.mandateId));
const approvals = () =>
  database().select().from(checkoutApprovals).where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));

describe("approveCheckout", () => {
  test("200 reserves the amount and makes one continuation token, also for 20 clicks at once", async () => {
    await reviewed(checkoutIntentId, scene.person);
    const replies = await Promise.all(Array.from({ length: 20 }, () => approve(checkoutIntentId, scene.person.credential)));
    expect(replies.map(({ status, problem }) => `${status} ${problem.code ?? ""}`)).toEqual(
      Array.from({ length: 20 }, () => "200 "),
    );
    expect(new Set(replies.map(({ data }) => data.approval.continuationTokenId)).size).toBe(1);
    const [{ data } = replies[0]!] = replies;
    expect(data.intent).toMatchObject({ status: "approved", mandateId: scene.mandateId, amount: "25" });
    expect(data.approval).toMatchObject({
      status: "pending",
      continuationTokenStatus: "active",
      approvalSurface: "service_hosted_confirmation",
      approvedBySubjectId: scene.person.userId,
      approvedAmount: "25",
      approvedBasketHash: data.intent.basketHash,
    });
    expect(data.approval.authorizationId).toBeUndefined();
    expect(data.mandates).toMatchObject([{ mandateId: scene.mandateId, match: true }]);
    expect(await holds()).toMatchObject([{ status: "held", amount: 25_000_000n, approvalKey: null }]);
    expect(await approvals()).toHaveLength(1);
    expect((await eventsOf(checkoutIntentId)).map(({ type }) => type)).toEqual(["checkout.previewed", "checkout.approved"]);
    const minted = await eventsOf(data.approval.continuationTokenId ?? "");
    expect(minted).toMatchObject([{ type: "continuation.minted", actorId: scene.person.userId }]);
  });

  test("the audit chain with the new events is valid, and the authorization has one event", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const { data } = await send(audit.verifyAudit, verifyAudit, { as: scene.person.credential, body: {} });
    expect(data.valid).toBe(true);
    const [approval] = await approvals();
    const [authorized, ...more] = await eventsOf(approval?.authorizationId ?? "");
    expect(more).toEqual([]);
    expect(authorized).toMatchObject({ type: "payment.authorized", actorId: scene.person.userId });
    const [checkout] = await database()
      .select()
      .from(checkoutIntents)
      .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
    expect(checkout).toMatchObject({ status: "approved", authorizationId: approval?.authorizationId });
  });

  test("200 with an idempotency key replays the same bytes, and another body is 422", async () => {
    await reviewed(checkoutIntentId, scene.person);
    const first = await approve(checkoutIntentId, scene.person.credential, {}, "approve-1");
    const again = await approve(checkoutIntentId, scene.person.credential, {}, "approve-1");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.data).toEqual(first.data);
    const other = await approve(checkoutIntentId, scene.person.credential, { mandateId: scene.mandateId }, "approve-1");
    expect([other.status, other.problem.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("the token is shown to the agent that previewed, repeatedly, and to nobody else", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const first = await read(checkoutIntentId, scene.agent.credential);
    expect(first.data.continuationToken).toMatch(/^cst_[A-Za-z0-9_-]{43}$/);
    expect((await read(checkoutIntentId, scene.agent.credential)).data.continuationToken).toBe(first.data.continuationToken);
    expect((await read(checkoutIntentId, scene.person.credential)).data.continuationToken).toBeUndefined();
    const other = await newKey(scene.person);
    expect((await read(checkoutIntentId, other.credential)).data.continuationToken).toBeUndefined();
    const stored = JSON.stringify([await approvals(), await database().select().from(auditEvents)], (_, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    expect(stored).not.toContain(first.data.continuationToken);
  });

  test("403 for every API key, with any capabilities", async () => {
    const { credential } = await newKey(
      scene.person,
      [...keyCapabilitiesOf(Capability.options)].filter((one) => one !== "mandates:create"),
    );
    const reply = await approve(checkoutIntentId, credential);
    expect([reply.status, reply.problem.code]).toEqual([403, "forbidden"]);
  });

  test("403 for a member without the capability", async () => {
    const viewer = await newMember(scene.person, "viewer");
    await view(checkoutIntentId, viewer.credential);
    const reply = await approve(checkoutIntentId, viewer.credential);
    expect([reply.status, reply.problem.code]).toEqual([403, "capability_required"]);
  });

  test("404 for a checkout of another organization, also for its page", async () => {
    const foreign = await newOrganization();
    expect((await approve(checkoutIntentId, foreign.credential)).status).toBe(404);
    expect((await reject(checkoutIntentId, foreign.credential)).status).toBe(404);
    expect((await read(checkoutIntentId, foreign.credential)).status).toBe(404);
    expect((await confirmPassword(checkoutIntentId, foreign.credential)).status).toBe(404);
    await expect(view(checkoutIntentId, foreign.credential)).rejects.toMatchObject({ code: "not_found" });
  });

  test("403 for another origin, with the session's cookie", async () => {
    await reviewed(checkoutIntentId, scene.person);
    for (const origin of ["https://evil.example", "null"]) {
      const reply = await approve(checkoutIntentId, { ...scene.person.credential, origin });
      expect([reply.status, reply.problem.code]).toEqual([403, "origin_not_allowed"]);
    }
    expect(await approvals()).toEqual([]);
  });

  test("409 if this session was not shown the page, even if another session was", async () => {
    await reviewed(checkoutIntentId, scene.person);
    const second = await signIn(scene.person.email);
    const reply = await approve(checkoutIntentId, second);
    expect([reply.status, reply.problem.code]).toEqual([409, "review_required"]);
  });

  test("409 if the page was shown more than ten minutes ago", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await database()
      .update(checkoutReviews)
      .set({ shownAt: sql`statement_timestamp() - interval '11 minutes'` });
    expect((await approve(checkoutIntentId, scene.person.credential)).problem.code).toBe("review_required");
  });

  test.each([
    ["basket", { basketHash: "0".repeat(64) }],
    ["amount", { amount: 25_000_001n }],
    ["payee", { payTo: `0x${"0b".repeat(20)}` }],
    ["asset", { asset: "EURC" }],
    ["chain", { chain: "eip155:1" }],
  ])("409 if the %s differs from the one that was shown", async (_name, change) => {
    await reviewed(checkoutIntentId, scene.person);
    const seen = await view(checkoutIntentId, scene.person.credential);
    await database()
      .update(checkoutReviews)
      .set(change as never)
      .where(eq(checkoutReviews.checkoutIntentId, checkoutIntentId));
    expect((await approve(checkoutIntentId, scene.person.credential)).problem.code).toBe("checkout_changed");
    expect(await holds()).toEqual([]);
    expect(seen.before).toBeUndefined();
  });

  test("410 for an expired checkout", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await expire(checkoutIntentId);
    const reply = await approve(checkoutIntentId, scene.person.credential);
    expect([reply.status, reply.problem.code]).toEqual([410, "intent_expired"]);
    expect((await read(checkoutIntentId, scene.agent.credential)).data.intent.status).toBe("expired");
  });

  test("409 after a rejection, after a cancellation, and under another mandate", async () => {
    await reviewed(checkoutIntentId, scene.person);
    const other = await activeMandate(scene.person.credential, { policy: open });
    await approve(checkoutIntentId, scene.person.credential, { mandateId: scene.mandateId });
    const again = await approve(checkoutIntentId, scene.person.credential, { mandateId: other });
    expect([again.status, again.problem.code]).toEqual([409, "approval_already_decided"]);
    expect((await reject(checkoutIntentId, scene.person.credential)).problem.code).toBe("approval_already_decided");

    const declined = await previewed(shop, scene.agent.credential, { mandateId: scene.mandateId });
    await reviewed(declined, scene.person);
    expect((await reject(declined, scene.person.credential, { reason: "No." })).data.intent.status).toBe("rejected");
    expect((await approve(declined, scene.person.credential)).problem.code).toBe("approval_already_decided");

    const canceled = await previewed(shop, scene.agent.credential, { mandateId: scene.mandateId });
    await reviewed(canceled, scene.person);
    expect((await cancel(canceled, scene.agent.credential)).data.intent.status).toBe("canceled");
    expect((await approve(canceled, scene.person.credential)).problem.code).toBe("checkout_closed");
  });

  test("409 for a mandate that no longer fits", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId });
    const reply = await approve(checkoutIntentId, scene.person.credential);
    expect([reply.status, reply.problem.code]).toEqual([409, "no_matching_mandate"]);
    expect(await approvals()).toEqual([]);
  });

  test("428 until the step-up is done, for a first payment and for an old session", async () => {
    const seen = await view(checkoutIntentId, scene.person.credential);
    expect(seen.stepUp).toMatchObject({ required: true, reasons: ["firstPayment"], done: false });
    expect((await approve(checkoutIntentId, scene.person.credential)).problem).toMatchObject({
      status: 428,
      code: "step_up_required",
      nextActions: [{ type: "step_up" }],
    });
    await ageSession(scene.person.userId, 16);
    expect((await view(checkoutIntentId, scene.person.credential)).stepUp.reasons).toEqual(["sessionAge", "firstPayment"]);
    expect((await confirmPassword(checkoutIntentId, scene.person.credential, "wrong")).problem.errors).toMatchObject([
      { pointer: "/password" },
    ]);
    expect((await confirmPassword(checkoutIntentId, scene.person.credential)).status).toBe(200);
    expect((await approve(checkoutIntentId, scene.person.credential)).status).toBe(200);
  });

  test("a step-up is valid for one checkout in one session, once, for five minutes", async () => {
    await reviewed(checkoutIntentId, scene.person);
    const other = await activeMandate(scene.person.credential, { policy: open });
    const second = await previewed(shop, scene.agent.credential, { mandateId: other });
    await view(second, scene.person.credential);
    expect((await approve(second, scene.person.credential)).problem.code).toBe("step_up_required");
    const elsewhere = await signIn(scene.person.email);
    await view(checkoutIntentId, elsewhere);
    expect((await approve(checkoutIntentId, elsewhere)).problem.code).toBe("step_up_required");
    await approve(checkoutIntentId, scene.person.credential);
    const [used] = await database().select().from(stepUps).where(eq(stepUps.checkoutIntentId, checkoutIntentId));
    expect(used?.usedAt).not.toBeNull();
    await database().update(stepUps).set({ checkoutIntentId: second });
    expect((await approve(second, scene.person.credential)).problem.code).toBe("step_up_required");
    await confirmPassword(second, scene.person.credential);
    await database()
      .update(stepUps)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` });
    expect((await approve(second, scene.person.credential)).problem.code).toBe("step_up_required");
  });

  test("429 after too many wrong passwords", async () => {
    const replies = [];
    for (let at = 0; at < 6; at += 1)
      replies.push(await confirmPassword(checkoutIntentId, scene.person.credential, `wrong-${at}`));
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 429]);
  });

  test("if two people approve at the same time, one decides", async () => {
    const colleague = await newMember(scene.person, "approver");
    await reviewed(checkoutIntentId, scene.person);
    await reviewed(checkoutIntentId, colleague);
    const [yes, no] = await Promise.all([
      approve(checkoutIntentId, scene.person.credential),
      reject(checkoutIntentId, colleague.credential),
    ]);
    expect([yes.status, no.status].toSorted()).toEqual([200, 409]);
    expect(await approvals()).toHaveLength(1);
  });
});
