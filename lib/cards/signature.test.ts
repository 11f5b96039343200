import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import { isSignedByStripe } from "#lib/cards/signature.ts";

/* Stripe's own library signs, and judges what is refused. */

const stripe = new Stripe("sk_test_none");
const secret = "whsec_the_secret_of_this_endpoint";
const other = "whsec_another_secret";
const payload = JSON.stringify({ id: "evt_1", object: "event", note: "Grüße, 東京", amount: 100 });
const now = new Date("2026-11-29T12:00:00Z");
const seconds = now.getTime() / 1000;

const header = (timestamp = seconds, by = secret, of = payload): string =>
  stripe.webhooks.generateTestHeaderString({ payload: of, secret: by, timestamp });
const accepts = (body: string, signature: string, secrets: readonly string[] = [secret], at = now): boolean =>
  isSignedByStripe(Buffer.from(body), signature, secrets, at);

/** What Stripe's library says of the same bytes. */
function judge(body: string, signature: string, at = now): boolean {
  try {
    stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, at.getTime());
    return true;
  } catch {
    return false;
  }
}

test("what Stripe's library signs is accepted, also while a secret is being replaced", () => {
  expect(judge(payload, header())).toBe(true);
  expect(accepts(payload, header())).toBe(true);
  expect(accepts(payload, header(seconds, other), [secret, other])).toBe(true);
  expect(accepts(payload, `${header()},v1=${"0".repeat(64)}`)).toBe(true);
  expect(accepts(payload, `${header()},v0=${"0".repeat(64)},scheme=x`)).toBe(true);
});

describe("refused, as by Stripe's library, is", () => {
  const signed = header();
  const [time = "", signature = ""] = signed.split(",");
  test.each([
    ["a changed body", payload.replace("100", "900"), signed],
    ["a body with a space more", `${payload} `, signed],
    ["a body in another encoding", payload.normalize("NFD"), signed],
    ["another secret", payload, header(seconds, other)],
    ["a changed time", payload, `t=${seconds + 1},${signature}`],
    ["no time", payload, signature],
    ["no signature", payload, time],
    ["another scheme", payload, `${time},${signature.replace("v1=", "v0=")}`],
    ["an empty header", payload, ""],
    ["half of a signature", payload, `${time},${signature.slice(0, 40)}`],
    ["an old signature", payload, header(seconds - 301)],
  ])("%s", (_, body, given) => {
    expect(judge(body, given)).toBe(false);
    expect(accepts(body, given)).toBe(false);
  });

  test("every signature with one changed digit, and every header with one character less", () => {
    for (let at = 0; at < signature.length; at += 1) {
      const digit = signature[at] === "0" ? "1" : "0";
      if (/[0-9a-f]/.test(signature[at] ?? "") && at > 2)
        expect(accepts(payload, `${time},${signature.slice(0, at)}${digit}${signature.slice(at + 1)}`), `digit ${at}`).toBe(
          false,
        );
    }
    for (let at = 0; at < signed.length; at += 1)
      expect(accepts(payload, signed.slice(0, at) + signed.slice(at + 1)), `without character ${at}`).toBe(false);
  });

  // Stripe's library takes these.
  test("a time that is given twice or lies ahead, and a header or list of signatures without end", () => {
    expect(accepts(payload, `${signed},${time}`)).toBe(false);
    expect(accepts(payload, header(seconds + 301))).toBe(false);
    expect(accepts(payload, `${signed},${"x".repeat(3_000)}`)).toBe(false);
    expect(accepts(payload, `${time},${`v1=${"0".repeat(64)},`.repeat(9)}${signature}`)).toBe(false);
    expect(accepts(payload, signed, [])).toBe(false);
  });
});
