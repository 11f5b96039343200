import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkoutScene, previewed, reject, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newPerson, signIn } from "#test/identity.ts";
import { askChallenge, newPasskey, type Authenticator } from "#test/passkeys.ts";
import type { Credential } from "#test/tenant.ts";

useDatabase();

let shop: HostileStorefront;
let email: string;
let me: Credential;
let mine: Authenticator;
let checkoutIntentId: string;

beforeAll(async () => {
  shop = await openHostileStorefront();
  const scene = await checkoutScene();
  ({ email, credential: me } = scene.person);
  ({ authenticator: mine } = await newPasskey(me));
  checkoutIntentId = await previewed(shop, scene.agent.credential);
  await view(checkoutIntentId, me);
});
afterAll(() => shop.close());

describe("challengePasskey", () => {
  test("makes a challenge only for terms that this session was shown", async () => {
    const second = await signIn(email);
    expect((await askChallenge(second, checkoutIntentId)).problem.code).toBe("review_required");
    expect((await askChallenge(me, "cki_unknown")).problem.code).toBe("not_found");
    await view(checkoutIntentId, second);
    expect((await askChallenge(second, checkoutIntentId)).status).toBe(200);
  });

  test("names the person's own passkeys, requires user verification, and is never the same twice", async () => {
    const [one, two] = [await askChallenge(me, checkoutIntentId), await askChallenge(me, checkoutIntentId)];
    expect(one.data.options).toMatchObject({
      rpId: "localhost",
      userVerification: "required",
      allowCredentials: [{ id: mine.credentialId, type: "public-key", transports: ["internal"] }],
    });
    expect(one.data.options.challenge).not.toBe(two.data.options.challenge);
  });

  test("without a checkout, the challenge is for confirmIdentity and no page needs to be shown before", async () => {
    const { status, data } = await askChallenge(me);
    expect([status, data.options.allowCredentials]).toMatchObject([200, [{ id: mine.credentialId }]]);
    expect(data).not.toHaveProperty("nonce");
    expect(Date.parse(data.expiresAt) - Date.now()).toBeGreaterThan(4 * 60_000);
  });

  test("409 for a person without a passkey, with the page that adds one", async () => {
    const { status, problem } = await askChallenge((await newPerson()).credential);
    expect([status, problem.code, problem.nextActions[0]?.href]).toEqual([
      409,
      "conflict",
      expect.stringContaining("/settings/security"),
    ]);
  });

  test("409 for a checkout that is decided", async () => {
    await reject(checkoutIntentId, me);
    expect((await askChallenge(me, checkoutIntentId)).problem.code).toBe("approval_already_decided");
  });
});
