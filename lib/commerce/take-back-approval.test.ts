import { eq } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { reservations } from "#lib/holds/tables.ts";
import { approve, expire, read, reject, reviewed, takeBack, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { hold, type HeldLocks } from "#test/holding.ts";
import { newKey, newMember, newOrganization } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { typesOf } from "#test/mandate-steps.ts";
import { activeMandate, assets, eventsOf } from "#test/mandates.ts";
import { authorized, execute, expectedOf, fundedWallet, readPayment, signed, useSettlement } from "#test/payments.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";

const databaseOf = useDatabase();
const chain = useSettlement();

const ROUNDS = 6;
const policy = {
  assets,
  limits: { perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount: "100" }] },
  approval: { mode: "always" },
};
let wallet: Awaited<ReturnType<typeof fundedWallet>>;
let owner: Awaited<ReturnType<typeof newOrganization>>;
beforeAll(async () => {
  wallet = await fundedWallet(chain(), 1_000_000_000n);
  owner = await newOrganization({ productRoles: ["seller"], name: "Shop" });
});

/**
 * Makes a payment that waits for a person's approval. No other test uses the address of its seller, and this service settles its
 * payments.
 */
async function newScene() {
  const person = await newOrganization();
  const agent = await newKey(person);
  const seller = await newSeller(owner.credential, {
    price: "0.25",
    payTo: randomAddress(),
    settlementMode: "facilitatorSettled",
  });
  const mandateId = await activeMandate(person.credential, { policy });
  const { organizationId } = person;
  const buyer = { organizationId, person, agent, seller, sellerOrganizationId: owner.organizationId, owner, mandateId };
  const { authorizationId, policyDecision } = await authorized(buyer);
  const checkoutIntentId =
    policyDecision.reasons
      .find(({ href }) => href)
      ?.href?.split("/")
      .at(-1) ?? "";
  const credential = await signed(wallet, expectedOf(buyer));
  const pay = (idempotencyKey = `pay-${checkoutIntentId}`) =>
    execute(buyer, { authorizationId, paymentCredential: credential, idempotencyKey });
  return { ...buyer, authorizationId, checkoutIntentId, pay, received: () => chain().balanceOf(seller.payTo) };
}
type Scene = Awaited<ReturnType<typeof newScene>>;

async function approved(): Promise<Scene> {
  const scene = await newScene();
  await reviewed(scene.checkoutIntentId, scene.person);
  const { status, problem } = await approve(scene.checkoutIntentId, scene.person.credential);
  if (status !== 200) throw new Error(JSON.stringify(problem));
  return scene;
}

const holdsOf = async ({ mandateId }: Scene) =>
  (await database().select().from(reservations).where(eq(reservations.mandateId, mandateId))).map(({ status }) => status);

afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

describe("takeBackApproval", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await approved();
  });

  test("200 revokes the approval, releases the amount and records who did it; taking it back again changes nothing", async () => {
    const { checkoutIntentId, person } = scene;
    const colleague = await newMember(person, "approver");
    const first = await takeBack(checkoutIntentId, colleague.credential);
    expect(first.status).toBe(200);
    expect(first.data).toMatchObject({
      intent: { status: "rejected" },
      approval: { status: "revoked", continuationTokenStatus: "revoked", approvedBySubjectId: person.userId },
    });
    const again = await takeBack(checkoutIntentId, person.credential);
    expect([again.status, again.data]).toEqual([200, first.data]);
    expect(await holdsOf(scene)).toEqual(["released"]);
    const rows = await database()
      .select()
      .from(checkoutApprovals)
      .where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
    expect(rows).toMatchObject([{ status: "revoked", takenBackBySubjectId: colleague.userId }]);
    const events = (await eventsOf(checkoutIntentId)).filter(({ type }) => type === "checkout.approvalTakenBack");
    expect(events).toMatchObject([{ actorId: colleague.userId, metadata: { approvalId: first.data.approval.approvalId } }]);
  });

  test("the agent reads that the approval was taken back, and execute answers 403 approval_revoked under every key", async () => {
    const { checkoutIntentId, agent, pay, received } = scene;
    await takeBack(checkoutIntentId, scene.person.credential);
    for (const key of ["one", "one", "two"]) {
      const { status, problem } = await pay(key);
      expect([status, problem.code, problem.nextActions[0]?.type]).toEqual([403, "approval_revoked", "use_other_seller"]);
    }
    const { data } = await read(checkoutIntentId, agent.credential);
    expect([data.intent.status, data.approval?.status, data.next, data.continuationToken]).toEqual([
      "rejected",
      "revoked",
      undefined,
      undefined,
    ]);
    expect((await readPayment(scene, scene.authorizationId)).data.approval?.status).toBe("revoked");
    expect(await received()).toBe(0n);
  });

  test("409 after the agent has paid, and the payment stands", async () => {
    const { checkoutIntentId, person, pay, received } = scene;
    expect((await pay()).data.settlementStatus).toBe("settled");
    const late = await takeBack(checkoutIntentId, person.credential);
    expect([late.status, late.problem.code]).toEqual([409, "authorization_consumed"]);
    expect(await typesOf(checkoutIntentId)).not.toContain("checkout.approvalTakenBack");
    expect([await holdsOf(scene), await received()]).toEqual([["captured"], 250_000n]);
  });

  test("403 for the agent, 404 for another organization, and the same bytes under the same key", async () => {
    const { checkoutIntentId, person, agent } = scene;
    expect((await takeBack(checkoutIntentId, agent.credential)).status).toBe(403);
    expect((await takeBack(checkoutIntentId, (await newOrganization()).credential)).status).toBe(404);
    expect(await holdsOf(scene)).toEqual(["held"]);
    const first = await takeBack(checkoutIntentId, person.credential, "take-back-once");
    const again = await takeBack(checkoutIntentId, person.credential, "take-back-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
  });

  test("a later approval is refused, and the page says who took it back", async () => {
    const { checkoutIntentId, person } = scene;
    await takeBack(checkoutIntentId, person.credential);
    expect((await approve(checkoutIntentId, person.credential)).problem.code).toBe("approval_already_decided");
    expect((await view(checkoutIntentId, person.credential)).decided).toMatchObject({ by: "Ada", takenBack: { by: "Ada" } });
  });

  test("409 before a decision and after a refusal, 410 when the approval has expired", async () => {
    const open = await newScene();
    const early = await takeBack(open.checkoutIntentId, open.person.credential);
    expect([early.status, early.problem.code]).toEqual([409, "conflict"]);
    await reject(open.checkoutIntentId, open.person.credential);
    expect((await takeBack(open.checkoutIntentId, open.person.credential)).problem.code).toBe("checkout_closed");
    await expire(scene.checkoutIntentId);
    await database()
      .update(checkoutApprovals)
      .set({ expiresAt: new Date(Date.now() - 1_000) })
      .where(eq(checkoutApprovals.checkoutIntentId, scene.checkoutIntentId));
    const late = await takeBack(scene.checkoutIntentId, scene.person.credential);
    expect([late.status, late.problem.code]).toEqual([410, "continuation_expired"]);
  });
});

/**
 * Resolves when `count` database connections wait for a lock. A connection that waits behind another waiting connection counts
 * too.
 */
const waiting = ({ sql }: HeldLocks, count: number) =>
  expect
    .poll(async () => {
      // Within a transaction, PostgreSQL keeps the first result of pg_stat_activity until it is cleared.
      await sql`SELECT pg_stat_clear_snapshot()`;
      const rows = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return rows.length;
    })
    .toBe(count);

/** Starts `first` and then `second` while the test has the mandate locked, so that `first` gets the lock first. */
async function inOrder<A, B>({ mandateId }: Scene, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  const held = await hold(databaseOf().url, `SELECT FROM mandates WHERE mandate_id = '${mandateId}' FOR UPDATE`);
  const one = first();
  await waiting(held, 1);
  const other = second();
  await waiting(held, 2);
  await held.release();
  return Promise.all([one, other]);
}

describe("taking back and executing at the same time", () => {
  test("if the approval is taken back first, the execution is refused, and no money moves", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const scene = await approved();
      const [taken, paid] = await inOrder(
        scene,
        () => takeBack(scene.checkoutIntentId, scene.person.credential),
        () => scene.pay(),
      );
      expect([taken.status, paid.status, paid.problem.code]).toEqual([200, 403, "approval_revoked"]);
      expect([await holdsOf(scene), await scene.received()]).toEqual([["released"], 0n]);
    }
  });

  test("if the payment is executed first, taking back is refused, and the payment is made once", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const scene = await approved();
      const [paid, taken] = await inOrder(
        scene,
        () => scene.pay(),
        () => takeBack(scene.checkoutIntentId, scene.person.credential),
      );
      expect([paid.status, paid.data.settlementStatus, taken.status, taken.problem.code]).toEqual([
        200,
        "settled",
        409,
        "authorization_consumed",
      ]);
      expect([await holdsOf(scene), await scene.received()]).toEqual([["captured"], 250_000n]);
    }
  });

  test("in any order and many times: either the approval was taken back and no money moved, or it was paid once", async () => {
    for (let round = 0; round < 2 * ROUNDS; round += 1) {
      const scene = await approved();
      const { checkoutIntentId, person } = scene;
      const calls = [
        () => takeBack(checkoutIntentId, person.credential),
        () => scene.pay("one"),
        () => takeBack(checkoutIntentId, person.credential),
        () => scene.pay("two"),
      ];
      const start = round % calls.length;
      const replies = await Promise.all([...calls.slice(start), ...calls.slice(0, start)].map((call) => call()));
      const statuses = replies.map(({ status }) => status).toSorted();
      const won = (await holdsOf(scene))[0] === "released" ? "taken back" : "paid";
      expect(statuses).toEqual(won === "taken back" ? [200, 200, 403, 403] : [200, 409, 409, 409]);
      expect(await scene.received()).toBe(won === "taken back" ? 0n : 250_000n);
    }
  });
});
