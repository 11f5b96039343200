import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals, checkoutIntents, stepUps } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/approvals/decision/contract.ts";
import * as passkeys from "#lib/identity/passkeys/contract.ts";
import { removePasskey } from "#lib/identity/passkeys/remove-passkey.ts";
import { stepUp } from "#lib/approvals/decision/step-up.ts";
import { passkey, passkeyChallenges } from "#lib/identity/tables.ts";
import { newestKept } from "#lib/mail/store.ts";
import { reservations } from "#lib/holds/tables.ts";
import { approve, checkoutScene, confirmPassword, open, previewed, read, view, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newMember, PASSWORD, signIn } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { eventsOf } from "#test/mandates.ts";
import { askChallenge, Authenticator, challenge, newPasskey } from "#test/passkeys.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

let shop: HostileStorefront;
let scene: CheckoutScene;
let me: Credential;
let mine: Authenticator;
let passkeyId: string;
let checkoutIntentId: string;

beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());
beforeEach(async () => {
  scene = await checkoutScene({ mandate: { policy: { ...open, minimumAssuranceLevel: "passkeyApproved" } } });
  me = scene.person.credential;
  ({ authenticator: mine, passkeyId } = await newPasskey(me));
  checkoutIntentId = await previewed(shop, scene.agent.credential);
  await view(checkoutIntentId, me);
});
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

const step = (assertion: unknown, as = me, id = checkoutIntentId) =>
  send(contract.stepUp, stepUp, { as, body: { checkoutIntentId: id, assertion } });
const signed = async (as = me, id = checkoutIntentId) => mine.sign(await challenge(as, id));
const made = () => database().select().from(stepUps).where(eq(stepUps.checkoutIntentId, checkoutIntentId));
const refusal = { status: 400, problem: { code: "invalid_request", errors: [{ pointer: "/assertion" }] } };

describe("an approval that asks for passkeyApproved", () => {
  test("is granted for the passkey that signed these terms, and approval, step-up and audit name it", async () => {
    expect((await step(await signed())).status).toBe(200);
    const { status, data, problem } = await approve(checkoutIntentId, me);
    expect([status, problem.code]).toEqual([200, undefined]);
    expect(data.intent.status).toBe("approved");
    const [approval] = await database()
      .select()
      .from(checkoutApprovals)
      .where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
    expect(approval).toMatchObject({ status: "pending", assuranceLevel: "passkeyApproved" });
    expect(await made()).toMatchObject([{ method: "passkey", passkeyId, usedAt: expect.any(Date), amount: 25_000_000n }]);
    const mail = (await newestKept(9)).find(({ recipient }) => recipient === scene.person.email);
    expect(mail?.subject).toBe("You approved 25.00 USDC");
    expect(mail?.plain).toContain(`/mandates/${scene.mandateId}\n`);
    expect(mail?.plain).toContain("You signed it with a passkey.");
    const end = approval!.expiresAt.toISOString().slice(11, 16);
    expect(mail?.plain).toMatch(new RegExp(`The approval can be used until [^,]+, ${end} UTC\\.`));
    const events = await eventsOf(checkoutIntentId);
    expect(events.at(-1)).toMatchObject({ type: "checkout.approved", metadata: { assuranceLevel: "passkeyApproved" } });
  });

  test("is 428 with only the password or without any proof, and reserves nothing", async () => {
    const passkeyAsked = {
      status: 428,
      problem: { code: "step_up_required", nextActions: [{ metadata: { method: "passkey" } }] },
    };
    const before = (await newestKept(99)).filter(({ subject }) => subject.startsWith("You approved"));
    await confirmPassword(checkoutIntentId, me);
    expect(await approve(checkoutIntentId, me)).toMatchObject(passkeyAsked);
    expect((await newestKept(99)).filter(({ subject }) => subject.startsWith("You approved"))).toEqual(before);
    expect(await database().select().from(reservations).where(eq(reservations.mandateId, scene.mandateId))).toEqual([]);
    expect((await step(await signed())).status).toBe(200);
    expect((await approve(checkoutIntentId, me)).status).toBe(200);
    expect((await made()).map(({ method, usedAt }) => [method, usedAt !== null])).toEqual([
      ["password", false],
      ["passkey", true],
    ]);
  });

  test("the page says that a passkey is needed, and when one has signed", async () => {
    const before = await view(checkoutIntentId, me);
    expect(before.mandates).toMatchObject([{ match: true, assuranceAsked: "passkeyApproved" }]);
    expect(before.stepUp).toMatchObject({ done: false, byPasskey: false, hasPasskey: true, hasPassword: true });
    await step(await signed());
    expect((await view(checkoutIntentId, me)).stepUp).toMatchObject({ done: true, byPasskey: true });
  });

  test("an assurance level that even a passkey does not reach asks for no step-up", async () => {
    const other = await checkoutScene({ mandate: { policy: { ...open, minimumAssuranceLevel: "walletApproved" } } });
    const id = await previewed(shop, other.agent.credential);
    await view(id, other.person.credential);
    await confirmPassword(id, other.person.credential);
    expect((await approve(id, other.person.credential)).problem.code).toBe("no_matching_mandate");
  });
});

describe("an assertion", () => {
  test("is accepted once: a replay is refused", async () => {
    const assertion = await signed();
    expect((await step(assertion)).status).toBe(200);
    expect(await step(assertion)).toMatchObject(refusal);
    expect(await made()).toHaveLength(1);
  });

  test("is accepted once if it is sent several times at once", async () => {
    const assertion = await signed();
    const replies = await Promise.all(Array.from({ length: 5 }, () => step(assertion)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("for another checkout is refused, and afterwards for its own too", async () => {
    const other = await previewed(shop, scene.agent.credential, {
      items: [{ productId: "tee", variantId: "tee-m", quantity: 1 }],
    });
    await view(other, me);
    const assertion = await signed(me, other);
    expect(await step(assertion)).toMatchObject(refusal);
    expect(await step(assertion, me, other)).toMatchObject(refusal);
    expect(await made()).toEqual([]);
  });

  test("of another session is refused, also of the same person", async () => {
    const second = await signIn(scene.person.email);
    const assertion = await signed();
    expect(await step(assertion, second)).toMatchObject(refusal);
    const colleague = await newMember(scene.person, "approver");
    expect(await step(assertion, colleague.credential)).toMatchObject(refusal);
    expect((await step(assertion)).status).toBe(200);
    await view(checkoutIntentId, second);
    expect((await approve(checkoutIntentId, second)).problem.code).toBe("step_up_required");
  });

  test("for a basket that changed since is 409, and nothing is approved", async () => {
    const assertion = await signed();
    const change = { basketHash: "f".repeat(64) };
    await database().update(checkoutIntents).set(change).where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
    expect((await step(assertion)).problem.code).toBe("checkout_changed");
    expect((await askChallenge(me, checkoutIntentId)).problem.code).toBe("checkout_changed");
    expect(await made()).toEqual([]);
  });

  test.each([{ basketHash: "e".repeat(64) }, { amount: 26_000_000n }, { payTo: "0x000000000000000000000000000000000000dead" }])(
    "that was accepted is invalid after the checkout has changed: $#",
    async (change) => {
      expect((await step(await signed())).status).toBe(200);
      await database()
        .update(checkoutIntents)
        .set(change as { amount: never })
        .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
      expect((await view(checkoutIntentId, me)).stepUp).toMatchObject({ done: false });
      expect((await approve(checkoutIntentId, me)).problem.code).toBe("step_up_required");
    },
  );

  test.each([
    ["for another relying party", { rpId: "evil.example" }],
    ["from another origin", { origin: "https://evil.example" }],
    ["without user verification", { verified: false }],
    ["with a counter that went back", { counter: 1 }],
  ])("%s is refused, and its challenge is used up", async (_, how) => {
    expect((await step(mine.sign(await challenge(me, checkoutIntentId), { counter: 5 }))).status).toBe(200);
    const issued = await challenge(me, checkoutIntentId);
    expect(await step(mine.sign(issued, how))).toMatchObject(refusal);
    expect(await step(mine.sign(issued, { counter: 9 }))).toMatchObject(refusal);
    expect(await made()).toHaveLength(1);
  });

  test("by another key, by another person's passkey, or with an invented challenge is refused", async () => {
    const stranger = new Authenticator();
    const colleague = await newMember(scene.person, "approver");
    const { authenticator: theirs } = await newPasskey(colleague.credential);
    expect(await step(stranger.sign(await challenge(me, checkoutIntentId)))).toMatchObject(refusal);
    expect(await step(theirs.sign(await challenge(me, checkoutIntentId)))).toMatchObject(refusal);
    expect(await step(mine.sign("bXkgb3duIGNoYWxsZW5nZQ"))).toMatchObject(refusal);
    expect(await step(mine.sign(await challenge(me)))).toMatchObject(refusal);
    const { id: _, ...rest } = mine.sign(await challenge(me, checkoutIntentId));
    expect(await step({ ...rest, id: theirs.credentialId })).toMatchObject(refusal);
    expect((await step(mine.sign("YQ"))).problem.code).toBe("rate_limited");
  });

  test("after its five minutes is refused", async () => {
    const assertion = await signed();
    await database()
      .update(passkeyChallenges)
      .set({ expiresAt: new Date(Date.now() - 60_000) });
    expect(await step(assertion)).toMatchObject(refusal);
  });

  test("of a removed passkey is refused, and its earlier signatures are invalid", async () => {
    expect((await step(await signed())).status).toBe(200);
    const late = await signed();
    const removed = await send(passkeys.removePasskey, removePasskey, { as: me, id: passkeyId, body: {} });
    expect(removed.status).toBe(200);
    expect(await step(late)).toMatchObject(refusal);
    expect((await approve(checkoutIntentId, me)).problem.code).toBe("step_up_required");
    expect((await askChallenge(me, checkoutIntentId)).problem.code).toBe("conflict");
  });
});

describe("stepUp", () => {
  test.each([{}, { password: PASSWORD, assertion: new Authenticator().sign("YQ") }])(
    "400 for neither and for both: %#",
    async (body) => {
      const { status, problem } = await send(contract.stepUp, stepUp, { as: me, body: { checkoutIntentId, ...body } });
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/password"]);
    },
  );

  test("agents do not see how the person confirmed", async () => {
    await step(await signed());
    await approve(checkoutIntentId, me);
    const { data } = await read(checkoutIntentId, scene.agent.credential);
    expect(data.intent.status).toBe("approved");
    expect(JSON.stringify(data)).not.toContain(passkeyId);
    expect(await database().select({ id: passkey.id }).from(passkey).where(eq(passkey.id, passkeyId))).toHaveLength(1);
  });
});
