import { eq, inArray } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { challengePasskey } from "#lib/approvals/decision/challenge-passkey.ts";
import * as contract from "#lib/approvals/decision/contract.ts";
import { stepUp } from "#lib/approvals/decision/step-up.ts";
import { checkoutApprovals, checkoutIntents, stepUps } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import * as passkeys from "#lib/identity/passkeys/contract.ts";
import { atomicOf } from "#lib/money.ts";
import { approve, checkoutScene, previewed, reject, view, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { PASSWORD } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { newPasskey } from "#test/passkeys.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

let shop: HostileStorefront;
let scene: CheckoutScene;

beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());
afterEach(async () => {
  expect(await brokenSums()).toEqual([]);
});

describe("requests that are approved together", () => {
  const ids: string[] = [];
  let password: Credential;

  /** Two requests of 12.50 and 37.50 USDC at an unverified shop, which this session was shown. */
  beforeEach(async () => {
    scene = await checkoutScene();
    password = scene.person.credential;
    ids.length = 0;
    for (const quantity of [1, 3]) {
      const items = [{ productId: "tee", variantId: "tee-m", quantity }];
      ids.push(await previewed(shop, scene.agent.credential, { items }));
    }
    for (const id of ids) await view(id, password);
  });

  const together = (proof: object, amount = "50", checkoutIntentIds: readonly string[] = ids) =>
    send(contract.stepUp, stepUp, { as: password, body: { together: { checkoutIntentIds, amount }, ...proof } });
  const byPassword = { password: PASSWORD };
  const answers = async (list: readonly string[] = ids) =>
    (await Promise.all(list.map((id) => approve(id, password)))).map(({ status, problem }) => problem.code ?? status);

  test("one password is a proof for each of them, which can be used once", async () => {
    expect(await answers()).toEqual(["step_up_required", "step_up_required"]);
    expect((await together(byPassword)).status).toBe(200);
    expect(await answers()).toEqual([200, 200]);
    const proofs = await database().select().from(stepUps).where(inArray(stepUps.checkoutIntentId, ids));
    expect(proofs.map(({ usedAt }) => usedAt !== null)).toEqual([true, true]);
  });

  test("the proof is for the listed requests only", async () => {
    const other = await previewed(shop, scene.agent.credential, {
      items: [{ productId: "tee", variantId: "tee-m", quantity: 2 }],
    });
    await view(other, password);
    await together(byPassword);
    expect(await answers([other])).toEqual(["step_up_required"]);
    await database().update(stepUps).set({ checkoutIntentId: other }).where(inArray(stepUps.checkoutIntentId, ids));
    expect(await answers([other])).toEqual(["step_up_required"]);
  });

  test("409 for another sum, and for terms that this session was not shown", async () => {
    expect((await together(byPassword, "49.99")).problem.code).toBe("checkout_changed");
    await database()
      .update(checkoutIntents)
      .set({ amount: atomicOf(38_000_000n) })
      .where(eq(checkoutIntents.checkoutIntentId, ids[1]!));
    const changed = (await together(byPassword, "50.5")).problem;
    expect([changed.code, changed.detail]).toEqual(["checkout_changed", expect.stringMatching(/^Request 2 of 2: /)]);
    expect(await database().select().from(stepUps).where(inArray(stepUps.checkoutIntentId, ids))).toEqual([]);
  });

  test("a term that changes after the proof refuses that request, and not the other one", async () => {
    await together(byPassword);
    await database()
      .update(checkoutIntents)
      .set({ amount: atomicOf(38_000_000n) })
      .where(eq(checkoutIntents.checkoutIntentId, ids[1]!));
    expect(await answers()).toEqual([200, "checkout_changed"]);
  });

  test("a request that is decided meanwhile is named, and nothing is proved", async () => {
    await reject(ids[0]!, password);
    const { status, problem } = await together(byPassword);
    expect([status, problem.code]).toEqual([409, "approval_already_decided"]);
    expect(problem.detail).toMatch(/^Request 1 of 2: /);
    expect(await answers([ids[1]!])).toEqual(["step_up_required"]);
  });

  test("a wrong password, a repeated request, and one of another organization are refused", async () => {
    expect((await together({ password: "not this one" })).problem.errors).toMatchObject([{ pointer: "/password" }]);
    expect((await together(byPassword, "25", [ids[0]!, ids[0]!])).status).toBe(400);
    const foreign = await checkoutScene();
    const strange = await previewed(shop, foreign.agent.credential);
    expect((await together(byPassword, "50", [ids[0]!, strange])).status).toBe(404);
    expect(await answers()).toEqual(["step_up_required", "step_up_required"]);
  });

  test("one passkey signs the list, its terms and its sum, and no other list", async () => {
    const { authenticator } = await newPasskey(password);
    const challengeOf = async (checkoutIntentIds: readonly string[], amount: string) =>
      (
        await send(passkeys.challengePasskey, challengePasskey, {
          as: password,
          body: { together: { checkoutIntentIds, amount } },
        })
      ).data.options.challenge;
    const asserted = async () => ({ assertion: authenticator.sign(await challengeOf(ids, "50")) });
    expect((await together(await asserted(), "50", ids.toReversed())).problem.code).toBe("checkout_changed");
    expect(
      (await send(contract.stepUp, stepUp, { as: password, body: { checkoutIntentId: ids[0]!, ...(await asserted()) } })).problem
        .code,
    ).toBe("invalid_request");
    expect((await together(await asserted())).status).toBe(200);
    expect(await answers()).toEqual([200, 200]);
    const approvals = await database().select().from(checkoutApprovals).where(inArray(checkoutApprovals.checkoutIntentId, ids));
    expect(approvals.map(({ assuranceLevel }) => assuranceLevel)).toEqual(["passkeyApproved", "passkeyApproved"]);
  });

  test("two people and two tabs that approve the same requests at once approve each once", async () => {
    await together(byPassword);
    await together(byPassword);
    const keys = Array.from({ length: 4 }, (_, turn) => `race-${turn}`);
    const replies = await Promise.all(keys.flatMap((key) => ids.map((id) => approve(id, password, {}, key + id))));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const approvals = await database().select().from(checkoutApprovals).where(inArray(checkoutApprovals.checkoutIntentId, ids));
    expect(approvals).toHaveLength(2);
    expect(new Set(replies.map(({ data }) => data.approval.approvalId)).size).toBe(2);
  });
});
