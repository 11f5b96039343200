import { eq } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { GATE } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import { reservations } from "#lib/holds/tables.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";
import { newIntent, post } from "#test/asking.ts";
import { approve, expire, extend, read, reject, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { newOrganization } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { lostRights } from "#test/lost-rights.ts";
import { typesOf } from "#test/mandate-steps.ts";
import { activeMandate, createBuyer, eventsOf, policy } from "#test/mandates.ts";
import { makeDue, noticesOf } from "#test/notices.ts";
import { createPerson } from "#test/tenant.ts";

const databaseOf = useDatabase();
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

async function holdEnds(mandateId: string): Promise<string | undefined> {
  const [held] = await database().select().from(reservations).where(eq(reservations.mandateId, mandateId));
  return held?.expiresAt.toISOString();
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

/** Makes a payment that waits at most `waits` seconds for a person's approval. Its payment intent expires at `ends`. */
async function newRequest({ waits = 300, ends = inSeconds(7_200), change = {} } = {}) {
  const buyer = await createBuyer();
  const rules = { ...policy, approval: { mode: "always", expiresInSeconds: waits }, ...change };
  const mandateId = await activeMandate(buyer.person.credential, { policy: rules });
  const body = { mandateId, intent: newIntent(buyer, { expiresAt: ends }) };
  const first = await post(body, buyer.agent.credential);
  const checkoutIntentId = first.data.policyDecision.reasons.find(({ href }) => href)?.checkoutIntentId ?? "";
  const { intent } = (await read(checkoutIntentId, buyer.person.credential)).data;
  return { ...buyer, mandateId, body, first, checkoutIntentId, intent, ends };
}

describe("the expiry of a request", () => {
  const lifeOf = ({ intent }: Awaited<ReturnType<typeof newRequest>>) =>
    (Date.parse(intent.expiresAt) - Date.parse(intent.createdAt)) / 1_000;

  test("is set by the mandate, or 30 minutes after its start", async () => {
    expect(lifeOf(await newRequest({ waits: 300 }))).toBe(300);
    expect(lifeOf(await newRequest({ waits: 86_400, ends: inSeconds(86_000) }))).toBeGreaterThan(85_000);
    expect(lifeOf(await newRequest({ change: { approval: { mode: "always" } } }))).toBe(1_800);
  });

  test("is never after the expiry of the intent or of the mandate", async () => {
    const ends = inSeconds(120);
    expect((await newRequest({ ends })).intent.expiresAt).toBe(ends);
    const validUntil = inSeconds(200);
    expect((await newRequest({ change: { validUntil } })).intent.expiresAt).toBe(validUntil);
  });

  test("is also the expiry of the reserved amount; an approval lasts an hour if the intent allows it", async () => {
    const request = await newRequest({ waits: 300 });
    const { checkoutIntentId, person, mandateId, intent } = request;
    expect(await holdEnds(mandateId)).toBe(intent.expiresAt);
    const { sellerId } = request.resource;
    await database().insert(mandateSellers).values({ mandateId, sellerId, firstPaidAt: new Date() });
    await view(checkoutIntentId, person.credential);
    const { data, problem } = await approve(checkoutIntentId, person.credential);
    expect(problem?.detail).toBeUndefined();
    const { expiresAt = "", createdAt } = data.approval;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(3_600_000);
    expect(await holdEnds(mandateId)).toBe(expiresAt);
  });
});

describe("extendCheckout", () => {
  test("200 extends the request and its hold up to the intent's expiry, once; retries of authorize get the same bytes", async () => {
    const { checkoutIntentId, person, agent, mandateId, body, first, ends } = await newRequest();
    expect((await view(checkoutIntentId, person.credential)).moreTimeUntil).toBe(ends);
    const extended = await extend(checkoutIntentId, person.credential);
    expect([extended.status, extended.data.intent.expiresAt]).toEqual([200, ends]);
    expect(await holdEnds(mandateId)).toBe(ends);
    const again = await post(body, agent.credential);
    expect([again.replayed, again.text]).toEqual([true, first.text]);
    expect((await extend(checkoutIntentId, person.credential)).data).toEqual(extended.data);
    expect((await view(checkoutIntentId, person.credential)).moreTimeUntil).toBeUndefined();
    const events = (await eventsOf(checkoutIntentId)).filter(({ type }) => type === "checkout.extended");
    expect(events).toMatchObject([{ actorId: person.userId, metadata: { from: first.data.expiresAt, to: ends } }]);
  });

  test("10 people at once extend it once", async () => {
    const { checkoutIntentId, person, ends } = await newRequest();
    const replies = await Promise.all(Array.from({ length: 10 }, () => extend(checkoutIntentId, person.credential)));
    expect(replies.map(({ status, data }) => [status, data.intent.expiresAt])).toEqual(replies.map(() => [200, ends]));
    expect((await typesOf(checkoutIntentId)).filter((type) => type === "checkout.extended")).toHaveLength(1);
  });

  test("the request ends with the seller's quote at the latest", async () => {
    const { checkoutIntentId, person } = await newRequest();
    const quoteExpiresAt = new Date(Date.now() + 600_000);
    await database()
      .update(checkoutIntents)
      .set({ quoteExpiresAt })
      .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
    expect((await extend(checkoutIntentId, person.credential)).data.intent.expiresAt).toBe(quoteExpiresAt.toISOString());
  });

  test("409 if the request cannot be extended, and after a decision; 410 after its expiry", async () => {
    const short = await newRequest({ ends: inSeconds(120) });
    expect((await view(short.checkoutIntentId, short.person.credential)).moreTimeUntil).toBeUndefined();
    const refused = await extend(short.checkoutIntentId, short.person.credential);
    expect([refused.status, refused.problem.code]).toEqual([409, "conflict"]);
    await reject(short.checkoutIntentId, short.person.credential);
    expect((await extend(short.checkoutIntentId, short.person.credential)).problem.code).toBe("approval_already_decided");
    const late = await newRequest();
    await expire(late.checkoutIntentId);
    expect((await extend(late.checkoutIntentId, late.person.credential)).problem.code).toBe("intent_expired");
    expect(await typesOf(late.checkoutIntentId)).not.toContain("checkout.extended");
  });

  test("403 for the agent and for people who may not approve, 404 for another organization", async () => {
    const { checkoutIntentId, agent, organizationId } = await newRequest();
    expect((await extend(checkoutIntentId, agent.credential)).status).toBe(403);
    expect((await extend(checkoutIntentId, (await createPerson(organizationId, "viewer")).credential)).status).toBe(403);
    expect((await extend(checkoutIntentId, (await newOrganization()).credential)).status).toBe(404);
  });

  test("reminders are timed by the new expiry", async () => {
    const { checkoutIntentId, person, intent, ends } = await newRequest({ waits: 1_200 });
    await followEvents();
    await sendNotices();
    await extend(checkoutIntentId, person.credential);
    for (const kind of ["halfTime", "lastMinutes"] as const) await makeDue(kind);
    await sendNotices();
    const half = new Date((Date.parse(intent.createdAt) + Date.parse(ends)) / 2);
    expect((await noticesOf(checkoutIntentId)).map(({ kind, status, dueAt }) => [kind, status, dueAt.toISOString()])).toEqual([
      ["opened", "delivered", intent.createdAt],
      ["halfTime", "waiting", half.toISOString()],
      ["lastMinutes", "waiting", new Date(Date.parse(ends) - 300_000).toISOString()],
    ]);
  });
});

test.each(lostRights.filter(([reason]) => !reason.includes("organization")))(
  "a person cannot extend a request if %s meanwhile",
  async (_, loseRights) => {
    const { checkoutIntentId, organizationId, person, intent } = await newRequest();
    const approver = await createPerson(organizationId, "approver");
    const revoking = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
    const extending = extend(checkoutIntentId, approver.credential);
    await revoking.blocks();
    await loseRights(approver.userId);
    await revoking.release();
    expect(["session_expired", "capability_required", "banned"]).toContain((await extending).problem.code);
    expect((await read(checkoutIntentId, person.credential)).data.intent.expiresAt).toBe(intent.expiresAt);
  },
);
