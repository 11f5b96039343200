import { createPrivateKey, createPublicKey } from "node:crypto";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { exampleThinEvent } from "#lib/audit/thin-event.ts";
import { CountersignError } from "../../sdk/src/errors.ts";
import { signWebhook, verifyWebhook, WebhookRefused, type WebhookHeaders } from "../../sdk/src/webhook.ts";

/* The function of the package that verifies webhooks. lib/webhooks/send-webhooks.test.ts verifies messages of the service with
   it. */

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const body = JSON.stringify(exampleThinEvent);

/** The public key that belongs to an Ed25519 seed. */
function publicKeyOf(seed: string): string {
  const head = Buffer.from("302e020100300506032b657004220420", "hex");
  const der = Buffer.concat([head, Buffer.from(seed, "base64")]);
  const { x = "" } = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" })).export({ format: "jwk" });
  return `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
}

const codeOf = (checked: Promise<unknown>): Promise<string> =>
  checked.then(
    () => "accepted",
    (error: unknown) => (error instanceof WebhookRefused ? error.code : "thrown"),
  );

describe("the specification's vectors", () => {
  const text = '{"test": 2432232314}';
  const [symmetric, asymmetric] = [
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==",
  ];
  const publicKey = publicKeyOf("VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=");
  beforeEach(() => void vi.useFakeTimers({ now: 1_614_265_330_000, toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  test.each([
    ["v1 by the secret", symmetric, secret, "body"],
    ["v1a by the public key", asymmetric, publicKey, "body"],
    ["both, by either key", `${symmetric} ${asymmetric}`, [publicKey, secret], "body"],
    ["v1a by a key of v1", asymmetric, secret, "signature"],
    ["v1 by a key of v1a", symmetric, publicKey, "signature"],
    ["a signature of v1 under the name of v1a", symmetric.replace("v1,", "v1a,"), publicKey, "signature"],
    ["an empty one and one of another version", "v1, v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", secret, "signature"],
    ["no base64", "v1,*** v1a", [secret, publicKey], "signature"],
  ])("%s", async (_, signature, keys, code) => {
    const headers = { "webhook-id": id, "webhook-timestamp": "1614265330", "webhook-signature": signature };
    // The body in the test vectors is signed but is not an event. So a valid signature leads to the code body.
    expect(await codeOf(verifyWebhook(headers, text, keys))).toBe(code);
    expect(await codeOf(verifyWebhook(headers, `${text} `, keys))).toBe("signature");
    expect(await codeOf(verifyWebhook({ ...headers, "webhook-id": `${id}0` }, text, keys))).toBe("signature");
  });
});

describe("a message", () => {
  const now = (): string => String(Math.floor(Date.now() / 1_000));
  const signedBy = (key: string, at = new Date()): Record<string, string> => ({
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new StandardWebhook(key).sign(id, at, body),
  });

  test("is accepted in every form in which servers give headers and body", async () => {
    const headers = signedBy(secret);
    const named = {
      "Webhook-Id": headers["webhook-id"],
      "WEBHOOK-TIMESTAMP": now(),
      "Webhook-Signature": headers["webhook-signature"],
    };
    const forms: WebhookHeaders[] = [headers, new Headers(headers), { ...named, host: "x", "set-cookie": ["a", "b"] }];
    for (const form of forms) expect(await verifyWebhook(form, new TextEncoder().encode(body), secret)).toEqual(exampleThinEvent);
    expect(await verifyWebhook(headers, body, [`whsec_${btoa("another secret of 24 b..")}`, secret])).toEqual(exampleThinEvent);
  });

  test("of signWebhook is accepted by two libraries", async () => {
    const headers = await signWebhook(id, body, secret);
    expect(new StandardWebhook(secret).verify(body, headers)).toEqual(exampleThinEvent);
    expect(() => new SvixWebhook(secret).verify(body, headers)).not.toThrow();
  });

  test("is refused if its time is far from now or not a number, or if a header is missing", async () => {
    for (const seconds of [-302, 302]) {
      const headers = signedBy(secret, new Date(Date.now() + seconds * 1_000));
      expect(await codeOf(verifyWebhook(headers, body, secret))).toBe("timestamp");
      expect(await codeOf(verifyWebhook(headers, body, secret, { toleranceSeconds: 600 }))).toBe("accepted");
    }
    const headers = signedBy(secret);
    for (const time of ["soon", "1e9", " 1", `${now()}.5`])
      expect(await codeOf(verifyWebhook({ ...headers, "webhook-timestamp": time }, body, secret))).toBe("timestamp");
    for (const name of Object.keys(headers))
      expect(await codeOf(verifyWebhook({ ...headers, [name]: undefined }, body, secret))).toBe("headers");
  });

  test("causes an error if the keys or the body cannot be used", async () => {
    const headers = signedBy(secret);
    for (const keys of [
      [],
      "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      "whsec_c2hvcnQ=",
      "whpk_c2hvcnQ=",
      "whsk_AAAA",
      [secret, "whpk_*"],
    ])
      await expect(verifyWebhook(headers, body, keys)).rejects.toThrow(CountersignError);
    await expect(verifyWebhook(headers, JSON.parse(body) as string, secret)).rejects.toThrow("as it arrived");
  });
});
